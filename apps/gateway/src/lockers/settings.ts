import type { Mode, SettingsReader } from '@svc/service/program/config'

export interface LockerConfig {
  /** Whether a locker may be opened without the payer's signature. */
  allowPublicProvision: boolean
  /** Whether writes beyond what was bought are refused. */
  enforcesTerms: boolean
}

export function readLockerConfig(settings: SettingsReader, mode: Mode): LockerConfig {
  const allowPublicProvision = settings.oneOf('ALLOW_PUBLIC_PROVISION', ['true', 'false'], 'false') === 'true'
  if (allowPublicProvision && mode === 'production') {
    settings.problem('ALLOW_PUBLIC_PROVISION is for development: in production only the payer opens a locker')
  }
  return { allowPublicProvision, enforcesTerms: settings.oneOf('ENFORCE_TERMS', ['true', 'false'], 'false') === 'true' }
}
