// Settings of attestations: how statements are made, and which are made without a request.

import type { CheckMode } from '@svc/protocol/evidence'
import type { SettingsReader } from '@svc/service/program/config'
import type { Rates } from '../auth/rates.ts'

export interface AttestConfig {
  checkMode: CheckMode
  /** Make a statement after files are confirmed. */
  isAutomatic: boolean
  /** How many statements per day the owner of a locker can cause, for each unit of the locker; 0 for no limit. */
  perUnitAndDay: number
  cron: CronAttestConfig
}

/** Settings for attesting lockers with a statement again. */
export interface CronAttestConfig {
  isEnabled: boolean
  /** Publish the new statements, too. */
  publish: boolean
  /** The most lockers in one run. */
  batchSize: number
  minAgeHours: number
  filter: CronFilter
  /** For the filter `tier`. A locker's tier is its tag `tier:<name>`. */
  tiers: string[]
}

const CRON_FILTERS = ['all', 'unchanged', 'opted_in', 'tier'] as const
type CronFilter = (typeof CRON_FILTERS)[number]

export function readAttestConfig(settings: SettingsReader, rates: Rates): AttestConfig {
  return {
    checkMode: settings.oneOf('ATTEST_CHECK_MODE', ['recorded_hashes', 'bytes_hashed']),
    isAutomatic: settings.flag('AUTO_REATTEST'),
    perUnitAndDay: rates['statements/day'],
    cron: readCron(settings),
  }
}

function readCron(settings: SettingsReader): CronAttestConfig {
  const filter = settings.oneOf('CRON_ATTEST_FILTER', CRON_FILTERS)
  const tiers = settings.list('CRON_ATTEST_TIERS')
  if ((filter === 'tier') !== tiers.length > 0) {
    settings.problem('CRON_ATTEST_FILTER=tier and CRON_ATTEST_TIERS belong together: set both or neither')
  }
  return {
    isEnabled: settings.flag('CRON_ATTEST_ENABLED'),
    publish: settings.flag('CRON_ATTEST_PUSH'),
    batchSize: settings.integer('CRON_ATTEST_BATCH_SIZE', { min: 1, max: 1000 }),
    minAgeHours: settings.integer('CRON_ATTEST_MIN_AGE_HOURS', { min: 1, max: 87_600 }),
    filter,
    tiers,
  }
}
