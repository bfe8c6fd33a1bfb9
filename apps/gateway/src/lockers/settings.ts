import type { Mode, SettingsReader } from '@svc/service/program/config'

export interface LockerConfig {
  /** Whether a locker may be opened without the payer's signature. */
  allowPublicProvision: boolean
  /** Whether writes beyond the quota are rejected. */
  enforcesTerms: boolean
}

export function readLockerConfig(settings: SettingsReader, mode: Mode): LockerConfig {
  const allowPublicProvision = settings.flag('ALLOW_PUBLIC_PROVISION')
  if (allowPublicProvision && mode === 'production') {
    settings.problem('ALLOW_PUBLIC_PROVISION is for development only: in production, only the payer may open a locker')
  }
  return { allowPublicProvision, enforcesTerms: settings.flag('ENFORCE_TERMS') }
}
