import { SettingsReader, type Variables } from '@svc/http-service/config'
import { describe, expect, it } from 'vitest'
import { readAttestConfig } from '../../src/attestations/settings.ts'

function read(variables: Variables = {}) {
  const settings = new SettingsReader(variables)
  const config = readAttestConfig(settings)
  settings.done()
  return config
}

describe('the settings of attestations', () => {
  it('CRON-01 CRON-03 CRON-04 CRON-05 LIM-10 AMB-34 FILE-32 have their defaults', () => {
    expect(read()).toEqual({
      checkMode: 'recorded_hashes',
      isAutomatic: false,
      perUnitAndDay: 500,
      cron: { isEnabled: false, publish: false, batchSize: 50, minAgeHours: 24, filter: 'all', tiers: [] },
    })
  })

  it('CRON-02 CRON-05 are read from their variables', () => {
    const set = read({
      ATTEST_CHECK_MODE: 'bytes_hashed',
      AUTO_REATTEST: 'true',
      STATEMENTS_PER_DAY: '0',
      CRON_ATTEST_ENABLED: 'true',
      CRON_ATTEST_PUSH: 'true',
      CRON_ATTEST_BATCH_SIZE: '7',
      CRON_ATTEST_MIN_AGE_HOURS: '1',
      CRON_ATTEST_FILTER: 'tier',
      CRON_ATTEST_TIERS: ' gold, silver ,',
    })
    expect(set).toEqual({
      checkMode: 'bytes_hashed',
      isAutomatic: true,
      perUnitAndDay: 0,
      cron: {
        isEnabled: true,
        publish: true,
        batchSize: 7,
        minAgeHours: 1,
        filter: 'tier',
        tiers: ['gold', 'silver'],
      },
    })
  })

  it.each([
    ['ATTEST_CHECK_MODE', 'none'],
    ['AUTO_REATTEST', 'yes'],
    ['STATEMENTS_PER_DAY', '-1'],
    ['CRON_ATTEST_ENABLED', '1'],
    ['CRON_ATTEST_BATCH_SIZE', '0'],
    ['CRON_ATTEST_MIN_AGE_HOURS', '-1'],
    ['CRON_ATTEST_FILTER', 'some'],
    ['CRON_ATTEST_FILTER', 'tier'],
    ['CRON_ATTEST_TIERS', 'gold'],
  ])('CFG-01 are refused with the name of the variable: %s=%s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name)
  })
})
