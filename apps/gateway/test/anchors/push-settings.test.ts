import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askToAttest, attest } from '../attestations/attest.ts'
import type { LockerHouse } from '../auth/lockers.ts'
import {
  expectAnchors,
  filledLocker,
  type Harbour,
  openHarbour,
  push,
  readTransaction,
  transactionsOf,
} from './anchor-gateways.ts'

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour()
})
afterAll(() => harbour.stop())

forEachDatabase('attesting again by the clock', (database) => {
  const DAY = 86_400
  const drain = ({ gateway }: LockerHouse) => gateway.context.queue.drain()
  const cron = async (house: LockerHouse) =>
    (await house.send<CronAttestAnswer>('POST', '/v1/internal/cron-attest', {})).body

  it('CRON-02 CRON-06 ANCH-11 AMB-36 publishes where that is enabled, and a new statement has no anchor until then', async () => {
    const variables = { DATABASE_URL: database.url, CRON_ATTEST_ENABLED: 'true' }
    const quiet = await harbour.open(variables)
    const loud = await harbour.open({ ...variables, CRON_ATTEST_PUSH: 'true' })
    const locker = await filledLocker(quiet)
    await attest(quiet, locker)
    await drain(quiet)
    harbour.clock.advance(DAY)
    expect(await cron(quiet)).toMatchObject({ selected: 1, attested: 1, pushed: 0 })
    await drain(quiet)
    await expectAnchors(quiet, harbour.chain, locker, [true, false])
    harbour.clock.advance(DAY)
    const results = [{ receipt_id: locker.receiptId, status: 'pushed' }]
    expect(await cron(loud)).toMatchObject({ selected: 1, attested: 1, pushed: 1, failed: 0, results })
    const anchors = await expectAnchors(loud, harbour.chain, locker, [true, false, true])
    // The same files, and so the same snapshot: it is the statements that differ.
    expect(new Set(anchors.map(({ snapshot_id }) => snapshot_id)).size).toBe(1)
    expect(new Set(anchors.map(({ statement_digest }) => statement_digest)).size).toBe(2)
  })
})

describe('where nothing is published', () => {
  const SKIPPED = { status: 'skipped', anchor: null, anchor_type: null, reason: 'no_feed_configured', error: null }

  it.each([
    ['by choice', { ANCHOR_KIND: 'off' }],
    ['for want of a chain', { PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '' }],
  ])(
    'ATT-12 AMB-38 AMB-64 %s: attesting and pushing answer that nothing was published, without an error',
    async (_why, variables) => {
      const house = await harbour.open(variables)
      const locker = await filledLocker(house)
      const count = await transactionsOf(harbour.chain, async () => {
        expect(await attest(house, locker)).toMatchObject({ attestation_status: 'computed', push_result: SKIPPED })
        const answer = { ok: true, receipt_id: locker.receiptId, ...SKIPPED, attestation_status: 'computed' }
        expect(await push(house, locker)).toEqual(answer)
        expect((await askToAttest(house, locker, { sync: false })).status).toBe(202)
        expect(await house.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
      })
      expect(count).toBe(0)
      await expectAnchors(house, harbour.chain, locker, [false])
    },
  )
})

describe('what is paid', () => {
  it('ANCH-01 ANCH-04 is more with a priority fee, and the memo is the same', async () => {
    const house = await harbour.open({ ANCHOR_PRIORITY_MICROLAMPORTS: '10000' })
    const locker = await filledLocker(house)
    const { anchor } = (await attest(house, locker)).push_result
    const { record, instructions } = readTransaction(harbour.chain, anchor!.tx)
    expect(anchor?.fee_lamports).toBe(Number(record.fee))
    expect(anchor?.fee_lamports).toBeGreaterThan(5000)
    const memos = instructions.filter(({ program }) => program?.startsWith('Memo'))
    expect(memos.map(({ text }) => JSON.parse(text))).toEqual([anchor?.payload])
  })
})
