import type { AnchorError } from '@svc/api/attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { attest, statusOf } from '../attestations/attest.ts'
import { expectRefusal, type LockerHouse, type TestLocker } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  askToPush,
  expectAnchors,
  filledLocker,
  push,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'
import { forgetfully, muteFor } from './node-faults.ts'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())
afterEach(() => testbed.node.behave(honestly))

forEachDatabase('a statement that follows one whose transaction is pending', (database) => {
  let house: LockerHouse
  /** Does not wait for an outcome. */
  let impatient: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await testbed.open({ DATABASE_URL: database.url })
    impatient = await testbed.open({ DATABASE_URL: database.url, ANCHOR_WAIT_SECONDS: '0' })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
  })

  it('T-19 ATT-04 a statement waits while an earlier transaction is pending, and is published when that has expired', async () => {
    testbed.node.behave(forgetfully)
    await attest(impatient, locker)
    await locker.put('b', 'b')
    const { push_result, attestation } = await attest(impatient, locker)
    const error = { retryable: true, ambiguous: false, tx_signature: null }
    expect(push_result).toMatchObject({ status: 'failed', reason: 'earlier_statement_open', error })
    expect(attestation).toMatchObject({ evidence_seq: 2, anchor: null, last_anchor_error: push_result.error })
    const again = await askToPush<{ details: AnchorError }>(impatient, locker)
    expectRefusal(again, 502, 'anchor_failed')
    const { status, anchor_error } = (await statusOf(house, locker))!
    expect([status, JSON.parse(anchor_error!)]).toEqual(['computed', again.body.details])
    testbed.node.behave(honestly)
    testbed.chain.expireBlockhashes()
    expect(await transactionsOf(testbed.chain, () => push(house, locker))).toBe(1)
    await expectAnchors(house, testbed.chain, locker, [false, true])
  })

  it('T-19 ATT-03 a push records that an earlier transaction has landed, and gives the newest statement its own anchor', async () => {
    testbed.node.behave(muteFor('getSignatureStatuses'))
    await attest(impatient, locker)
    testbed.node.behave(honestly)
    await locker.put('b', 'b')
    const sent = await transactionsOf(testbed.chain, async () => {
      const { anchor } = (await attest(house, locker)).push_result
      expect(anchor?.payload).toMatchObject({ seq: 2 })
    })
    expect(sent).toBe(1)
    await expectAnchors(house, testbed.chain, locker, [true, true])
  })
})
