// Settings that every service has: where it listens, how it is reached, what it logs.

import { isIP } from 'node:net'
import type { SettingsReader } from './config.ts'
import type { LogLevel } from './log.ts'

export type Mode = 'development' | 'production'

export interface HttpSettings {
  host: string
  port: number
  /** The public address; it stands in every URL that is handed out. */
  baseUrl: string
  trustedProxies: string[]
}

export function readHttpSettings(settings: SettingsReader, mode: Mode, defaultPort: number): HttpSettings {
  const port = settings.integer('PORT', defaultPort, { min: 0, max: 65_535 })
  return {
    host: settings.text('HOST', '0.0.0.0'),
    port,
    baseUrl: baseUrl(settings, mode, port),
    trustedProxies: trustedProxies(settings),
  }
}

export function readLogSettings(settings: SettingsReader): { level: LogLevel } {
  return { level: settings.oneOf('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info') }
}

function baseUrl(settings: SettingsReader, mode: Mode, port: number): string {
  if (mode === 'production' && settings.text('BASE_URL') === '') {
    settings.problem('BASE_URL must be the public address of this service: it stands in every URL it hands out')
  }
  return settings.url('BASE_URL', `http://localhost:${port}`)
}

function trustedProxies(settings: SettingsReader): string[] {
  const list = settings.text('TRUSTED_PROXIES').split(',').filter(Boolean)
  const isNetwork = (text: string) => {
    const [address = '', bits, ...rest] = text.split('/')
    const family = isIP(address)
    return (
      family > 0 &&
      rest.length === 0 &&
      (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32)))
    )
  }
  if (!list.every(isNetwork)) settings.problem('TRUSTED_PROXIES must be addresses or networks with commas between')
  return list
}
