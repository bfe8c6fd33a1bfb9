import { readInteger, type SettingsReader } from '@svc/service/program/config'

/** Requests per minute; 0 for no limit. */
export interface CallerLimits {
  perAddress: number
  perIdentity: number
}

export function readCallerLimits(settings: SettingsReader): CallerLimits {
  const rates = settings.pairs('RATE_LIMITS', ['address', 'identity'])
  const rate = (name: 'address' | 'identity') => {
    const [count = '', unit] = rates.get(name)?.at(-1)?.split('/') ?? []
    if (unit !== 'min') settings.problem(`RATE_LIMITS: ${name} must have the form ${name}=60/min`)
    return readInteger(settings, `RATE_LIMITS: ${name}`, count, { min: 0, max: 1_000_000 })
  }
  return { perAddress: rate('address'), perIdentity: rate('identity') }
}
