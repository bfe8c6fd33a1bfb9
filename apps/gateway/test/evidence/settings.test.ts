import { SettingsReader, type Variables } from '@svc/service/program/config'
import { describe, expect, it } from 'vitest'
import { readRates } from '../../src/auth/rates.ts'
import { readAttestConfig } from '../../src/evidence/settings.ts'
import { SETTINGS } from '../../src/settings.ts'

function read(variables: Variables = {}) {
  const settings = new SettingsReader(variables, SETTINGS)
  const config = readAttestConfig(settings, readRates(settings))
  settings.done()
  return config
}

describe('the settings of attestations', () => {
  it('CRON-01 LIM-10 have defaults and accept a list of tiers', () => {
    const cron = { isEnabled: false, publish: false, batchSize: 50, minAgeHours: 24, filter: 'all', tiers: [] }
    expect(read()).toEqual({ checkMode: 'recorded_hashes', isAutomatic: false, perUnitAndDay: 500, cron })
    const tiers = { CRON_ATTEST_FILTER: 'tier', CRON_ATTEST_TIERS: ' gold, silver ,' }
    expect(read(tiers).cron).toEqual({ ...cron, filter: 'tier', tiers: ['gold', 'silver'] })
  })

  it.each([
    ['RATE_LIMITS', 'statements=-1/day'],
    ['CRON_ATTEST_BATCH_SIZE', '0'],
    ['CRON_ATTEST_FILTER', 'tier'],
    ['CRON_ATTEST_TIERS', 'gold'],
  ])('CFG-01 are refused with the name of the variable (%s=%s)', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name)
  })
})
