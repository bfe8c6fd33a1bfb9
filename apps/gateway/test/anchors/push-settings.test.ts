import type { Simulation } from '@svc/api/evidence'
import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askToAttest, attest } from '../attestations/attest.ts'
import type { LockerHouse } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  expectAnchors,
  filledLocker,
  push,
  readTransaction,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())

forEachDatabase('the attest schedule', (database) => {
  const DAY = 86_400
  const drain = ({ gateway }: LockerHouse) => gateway.context.queue.drain()
  const cron = async (house: LockerHouse) =>
    (await house.send<CronAttestAnswer>('POST', '/v1/internal/cron-attest', {})).body

  it('CRON-02 CRON-06 ANCH-11 AMB-36 the attest schedule publishes where that is enabled, and a new statement has no anchor until then', {
    tags: ['nightly'],
  }, async () => {
    const variables = { DATABASE_URL: database.url, CRON_ATTEST_ENABLED: 'true' }
    const withoutPush = await testbed.open(variables)
    const withPush = await testbed.open({ ...variables, CRON_ATTEST_PUSH: 'true' })
    const locker = await filledLocker(withoutPush)
    await attest(withoutPush, locker)
    await drain(withoutPush)
    testbed.clock.advance(DAY)
    expect(await cron(withoutPush)).toMatchObject({ selected: 1, attested: 1, pushed: 0 })
    await drain(withoutPush)
    await expectAnchors(withoutPush, testbed.chain, locker, [true, false])
    testbed.clock.advance(DAY)
    const results = [{ receipt_id: locker.receiptId, status: 'pushed' }]
    expect(await cron(withPush)).toMatchObject({ selected: 1, attested: 1, pushed: 1, failed: 0, results })
    const anchors = await expectAnchors(withPush, testbed.chain, locker, [true, false, true])
    // The same files make the same snapshot; only the statements differ.
    expect(new Set(anchors.map(({ snapshot_id }) => snapshot_id)).size).toBe(1)
    expect(new Set(anchors.map(({ statement_digest }) => statement_digest)).size).toBe(2)
  })
})

describe('where nothing is published', () => {
  const SKIPPED = { status: 'skipped', anchor: null, anchor_type: null, reason: 'no_feed_configured', error: null }

  it.each([
    ['when anchors are off', { ANCHOR_KIND: 'off' }],
    ['when there is no primary chain', { PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '' }],
  ])(
    'ATT-12 AMB-38 AMB-64 attesting and pushing answer that nothing was published, without an error, %s',
    { tags: ['nightly'] },
    async (_why, variables) => {
      const house = await testbed.open(variables)
      const locker = await filledLocker(house)
      const count = await transactionsOf(testbed.chain, async () => {
        expect(await attest(house, locker)).toMatchObject({ attestation_status: 'computed', push_result: SKIPPED })
        const answer = { ok: true, receipt_id: locker.receiptId, ...SKIPPED, attestation_status: 'computed' }
        expect(await push(house, locker)).toEqual(answer)
        expect((await askToAttest(house, locker, { sync: false })).status).toBe(202)
        expect(await house.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
      })
      expect(count).toBe(0)
      await expectAnchors(house, testbed.chain, locker, [false])
    },
  )
})

describe('a simulation', () => {
  it('ATT-13 SHAPE-35 sends nothing to the chain, and names the memo that publishing then writes', async () => {
    const house = await testbed.open({ ATTEST_PUSH: 'false' })
    const locker = await filledLocker(house)
    await attest(house, locker)
    const { receiptId: receipt_id } = locker
    let simulated: Simulation | undefined
    const count = await transactionsOf(testbed.chain, async () => {
      const { status, body } = await house.send<Simulation>('POST', '/v1/attest/simulate', { receipt_id })
      expect([status, body.on_chain_write]).toEqual([200, false])
      simulated = body
      expect(await house.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    })
    expect(count).toBe(0)
    await expectAnchors(house, testbed.chain, locker, [false])
    const { anchor } = await push(house, locker)
    const { type, payload, signer, memo_bytes } = simulated!.would_write
    expect(anchor).toMatchObject({ type, payload, signer })
    const [memo] = readTransaction(testbed.chain, anchor!.tx).instructions
    expect(Buffer.byteLength(memo!.text)).toBe(memo_bytes)
  })
})

describe('what is paid', () => {
  it('ANCH-01 ANCH-04 a priority fee raises the cost and leaves the memo as it is', async () => {
    const house = await testbed.open({ ANCHOR_PRIORITY_MICROLAMPORTS: '10000' })
    const locker = await filledLocker(house)
    const { anchor } = (await attest(house, locker)).push_result
    const { record, instructions } = readTransaction(testbed.chain, anchor!.tx)
    expect(anchor?.fee_lamports).toBe(Number(record.fee))
    expect(anchor?.fee_lamports).toBeGreaterThan(5000)
    const memos = instructions.filter(({ program }) => program?.startsWith('Memo'))
    expect(memos.map(({ text }) => JSON.parse(text))).toEqual([anchor?.payload])
  })
})
