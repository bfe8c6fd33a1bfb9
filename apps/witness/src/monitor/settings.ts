import type { SettingsReader } from '@svc/service/program/config'

export interface MonitorSettings {
  /** Between two rounds; 0 to monitor nothing. */
  intervalSeconds: number
  /** How far clocks may differ, and how long a statement may take into the log. */
  toleranceSeconds: number
  /** Within which statements must be published on chain; 0 where they need not be. */
  anchorSeconds: number
  /** How long a log may be away. */
  unreachableSeconds: number
  /** A node of the chain that anchors are on; null to take the gateway's word for them. */
  rpcUrl: string | null
  /** Takes alarms as they are raised; null for nobody. */
  webhookUrl: string | null
}

const YEAR = 31_536_000

export function readMonitorSettings(settings: SettingsReader): MonitorSettings {
  const seconds = (name: string, min: number) => settings.integer(name, { min, max: YEAR })
  const address = (name: string) => settings.url(name) || null
  return {
    intervalSeconds: seconds('MONITOR_SECONDS', 0),
    toleranceSeconds: seconds('MONITOR_TOLERANCE_SECONDS', 1),
    anchorSeconds: seconds('MONITOR_ANCHOR_SECONDS', 0),
    unreachableSeconds: seconds('MONITOR_UNREACHABLE_SECONDS', 1),
    rpcUrl: address('MONITOR_RPC_URL'),
    webhookUrl: address('MONITOR_WEBHOOK_URL'),
  }
}
