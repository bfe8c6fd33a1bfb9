import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { runAttestJob } from '../../src/attestations/attest-job.ts'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  expectAnchors,
  filledLocker,
  publicationsOf,
  push,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())
afterEach(() => testbed.node.behave(honestly))

forEachDatabaseInGate('publishing while other things happen', (database) => {
  /** Attesting does not publish here. */
  let house: LockerHouse
  let automatic: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await testbed.open({ DATABASE_URL: database.url, ATTEST_PUSH: 'false' })
    automatic = await testbed.open({ DATABASE_URL: database.url })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
  })

  it('T-19 ten pushes at once share one transaction', async () => {
    await attest(house, locker)
    const sent = await transactionsOf(testbed.chain, async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => push(house, locker)))
      const [anchor] = await expectAnchors(house, testbed.chain, locker, [true])
      for (const answer of answers) expect(answer).toMatchObject({ anchor, attestation_status: 'complete' })
    })
    expect([sent, await publicationsOf(house, locker)]).toEqual([1, [expect.objectContaining({ state: 'landed' })]])
  })

  it.each([
    ['sendTransaction', 'before'],
    ['sendTransaction', 'after'],
    ['getSignatureStatuses', 'before'],
    ['getTransaction', 'before'],
  ] as const)(
    'ATT-03 AMB-36 a statement made while the older one is published (%s %s) gets its own anchor',
    async (method, when) => {
      await attest(house, locker)
      const held = testbed.hold(method, { when })
      const older = push(house, locker)
      await held.reached
      await locker.put('b', 'b')
      await attest(house, locker)
      held.release()
      const newer = push(house, locker)
      const answers = await Promise.all([older, newer])
      const anchors = await expectAnchors(house, testbed.chain, locker, [true, true])
      expect(answers.map(({ anchor }) => anchor)).toEqual(anchors)
      expect(await publicationsOf(house, locker)).toHaveLength(2)
    },
  )

  it.each(['getLatestBlockhash', 'simulateTransaction'])(
    'ATT-03 AMB-36 a statement made before the older one is sent (%s) is published instead',
    async (method) => {
      await attest(house, locker)
      const held = testbed.hold(method)
      const older = push(house, locker)
      await held.reached
      await locker.put('b', 'b')
      await attest(house, locker)
      held.release()
      const sent = await transactionsOf(testbed.chain, async () => {
        const { anchor } = await older
        expect(await expectAnchors(house, testbed.chain, locker, [false, true])).toEqual([anchor])
      })
      expect(sent).toBe(1)
    },
  )

  it('ATT-03 ANCH-08 attesting answers with one statement, even when a newer one exists by then', async () => {
    const held = testbed.hold('getTransaction')
    const asked = attest(automatic, locker)
    await held.reached
    await locker.put('b', 'b')
    await attest(house, locker)
    held.release()
    const { attestation, push_result, attestation_status } = await asked
    expect([push_result.status, attestation_status]).toEqual(['pushed', 'complete'])
    expect(attestation).toMatchObject({ evidence_seq: 1, anchor: push_result.anchor })
    await expectAnchors(house, testbed.chain, locker, [true, false])
  })

  it('ANCH-11 AMB-33 a statement made by a call that does not publish is published by one that does', async () => {
    const { attestations } = automatic.gateway.rooms
    const { lockerId: locker_id, receiptId: receipt_id } = locker
    const withoutPush = attestations.attest({ locker_id, receipt_id })
    await Promise.all([withoutPush, runAttestJob(attestations, receipt_id, 1)])
    await attestations.queue.drain()
    await expectAnchors(house, testbed.chain, locker, [true])
  })
})
