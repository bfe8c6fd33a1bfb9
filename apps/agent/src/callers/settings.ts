import type { SettingsReader } from '@svc/service/program/config'

/** Requests a minute; 0 for no limit. */
export interface CallerLimits {
  perAddress: number
  perIdentity: number
}

export function readCallerLimits(settings: SettingsReader): CallerLimits {
  const range = { min: 0, max: 1_000_000 }
  return {
    perAddress: settings.integer('RATE_LIMIT_ADDRESS', 60, range),
    perIdentity: settings.integer('RATE_LIMIT_IDENTITY', 60, range),
  }
}
