import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { runAttestJob } from '../../src/attestations/attest-job.ts'
import { attest } from '../attestations/attest.ts'
import type { LockerHouse, TestLocker } from '../auth/lockers.ts'
import {
  expectAnchors,
  filledLocker,
  type Harbour,
  openHarbour,
  publicationsOf,
  push,
  transactionsOf,
} from './anchor-gateways.ts'
import { type Hold, type HoldOptions, holdAt } from './node-faults.ts'

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour()
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

function hold(method: string, options?: HoldOptions): Hold {
  const held = holdAt(method, options)
  harbour.node.behave(held.behaviour)
  return held
}

forEachDatabase('publishing while other things happen', (database) => {
  /** It does not publish what it attests. */
  let house: LockerHouse
  let keen: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await harbour.open({ DATABASE_URL: database.url, ATTEST_PUSH: 'false' })
    keen = await harbour.open({ DATABASE_URL: database.url })
  })
  beforeEach(async () => {
    locker = await filledLocker(house)
  })

  it('T-19 twenty pushes at once share one transaction', async () => {
    await attest(house, locker)
    const twenty = Array.from({ length: 20 }, () => house)
    const sent = await transactionsOf(harbour.chain, async () => {
      const answers = await Promise.all(twenty.map((of) => push(of, locker)))
      const [anchor] = await expectAnchors(house, harbour.chain, locker, [true])
      for (const answer of answers) expect(answer).toMatchObject({ anchor, attestation_status: 'complete' })
    })
    expect([sent, await publicationsOf(house, locker)]).toEqual([1, [expect.objectContaining({ state: 'finalized' })]])
  })

  it.each([
    ['sendTransaction', 'before'],
    ['sendTransaction', 'after'],
    ['getSignatureStatuses', 'before'],
    ['getTransaction', 'before'],
  ] as const)(
    'ATT-03 AMB-36 a newer statement while the older is published (%s, %s): each has its own anchor',
    async (method, when) => {
      await attest(house, locker)
      const held = hold(method, { when })
      const older = push(house, locker)
      await held.reached
      await locker.put('b', 'b')
      await attest(house, locker)
      held.letGo()
      const newer = push(house, locker)
      const answers = await Promise.all([older, newer])
      const anchors = await expectAnchors(house, harbour.chain, locker, [true, true])
      expect(answers.map(({ anchor }) => anchor)).toEqual(anchors)
      expect(await publicationsOf(house, locker)).toHaveLength(2)
    },
  )

  it.each(['getLatestBlockhash', 'simulateTransaction'])(
    'ATT-03 AMB-36 a newer statement before the older is sent (%s) is published instead',
    async (method) => {
      await attest(house, locker)
      const held = hold(method)
      const older = push(house, locker)
      await held.reached
      await locker.put('b', 'b')
      await attest(house, locker)
      held.letGo()
      const sent = await transactionsOf(harbour.chain, async () => {
        const { anchor } = await older
        expect(await expectAnchors(house, harbour.chain, locker, [false, true])).toEqual([anchor])
      })
      expect(sent).toBe(1)
    },
  )

  it('ATT-03 ANCH-08 attesting answers with one statement, even when a newer one exists by then', async () => {
    const held = hold('getTransaction')
    const asked = attest(keen, locker)
    await held.reached
    await locker.put('b', 'b')
    await attest(house, locker)
    held.letGo()
    const { attestation, push_result, attestation_status } = await asked
    expect([push_result.status, attestation_status]).toEqual(['pushed', 'complete'])
    expect(attestation).toMatchObject({ evidence_seq: 1, anchor: push_result.anchor })
    await expectAnchors(house, harbour.chain, locker, [true, false])
  })

  it('ANCH-11 AMB-33 a statement made by a call that does not publish is published by one that does', async () => {
    const { attestations } = keen.gateway.rooms
    const { lockerId: locker_id, receiptId: receipt_id } = locker
    const quietly = attestations.attest({ locker_id, receipt_id })
    await Promise.all([quietly, runAttestJob(attestations, receipt_id, 1)])
    await attestations.queue.drain()
    await expectAnchors(house, harbour.chain, locker, [true])
  })
})
