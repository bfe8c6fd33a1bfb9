import type { SettingsReader } from '@svc/service/program/config'

export interface DelegationSettings {
  /** The limit for open delegations of one identity. */
  maxPerIdentity: number
}

export function readDelegationSettings(settings: SettingsReader): DelegationSettings {
  return { maxPerIdentity: settings.integer('MAX_DELEGATIONS', { min: 1, max: 10_000 }) }
}
