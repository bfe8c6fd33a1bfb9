import { readDnsServers, type SettingsReader } from '@svc/service/program/config'

export interface WorkSettings {
  /** Bytes that one watch may read back; 0 for none. */
  watchMaxBytes: number
  /** Empty for the system's servers. */
  dnsServers: string[]
}

export function readWorkSettings(settings: SettingsReader): WorkSettings {
  return {
    watchMaxBytes: settings.integer('WATCH_MAX_BYTES', { min: 0, max: Number.MAX_SAFE_INTEGER }),
    dnsServers: readDnsServers(settings),
  }
}
