import type { SettingsReader } from '@svc/service/program/config'

export interface MonitorSettings {
  /** Between two rounds; 0 disables the monitor. */
  intervalSeconds: number
  /** The tolerated difference between clocks, and between a statement and its log entry. */
  toleranceSeconds: number
  /** The deadline for publishing statements on chain; 0 for none. */
  anchorSeconds: number
  /** How long a log may be unreachable. */
  unreachableSeconds: number
  /** A node of the chain of the anchors; null to trust the gateway's claims. */
  rpcUrl: string | null
  /** Receives new alarms; null for none. */
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
