import type { Mode, SettingsReader } from '@svc/service/program/config'

export interface LockerConfig {
  /** Whether a locker may be opened without the payer's signature. */
  allowPublicProvision: boolean
  /** Whether writes beyond what was bought are refused. */
  enforcesTerms: boolean
}

export function readLockerConfig(settings: SettingsReader, mode: Mode): LockerConfig {
  const allowPublicProvision = settings.flag('ALLOW_PUBLIC_PROVISION')
  if (allowPublicProvision && mode === 'production') {
    settings.problem('ALLOW_PUBLIC_PROVISION is for development: in production only the payer opens a locker')
  }
  return { allowPublicProvision, enforcesTerms: settings.flag('ENFORCE_TERMS') }
}
