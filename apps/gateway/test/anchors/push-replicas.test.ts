import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { watchPublications } from '../../src/anchors/watch-publications.ts'
import { attest, expectChain, queueToAttest } from '../attestations/attest.ts'
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
import { blindly, forgetfully, refusingly } from './node-faults.ts'

let testbed: AnchorTestbed
let database: FreshDatabase
/** Attesting does not publish on these two. */
let one: LockerHouse
let other: LockerHouse
let automatic: LockerHouse[]
let noWait: LockerHouse
let locker: TestLocker
beforeAll(async () => {
  testbed = await startAnchorTestbed()
  database = await createFreshDatabase('postgres')
  const variables = { DATABASE_URL: database.url }
  const manual = { ...variables, ATTEST_PUSH: 'false' }
  one = await testbed.open(manual)
  other = await testbed.open(manual)
  noWait = await testbed.open({ ...variables, ANCHOR_WAIT_SECONDS: '0' })
  automatic = [await testbed.open(variables), await testbed.open(variables)]
})
afterAll(async () => {
  await testbed.stop()
  await database.drop()
})
beforeEach(async () => {
  locker = await filledLocker(one)
})
afterEach(() => testbed.node.behave(honestly))

const TEN = Array.from({ length: 10 }, (_, i) => i)
const tenPushes = () => Promise.all(TEN.map((i) => push(i % 2 === 0 ? one : other, locker)))

describe('two gateways on one database', () => {
  it('T-19 ten pushes at once on two gateways share one transaction', async () => {
    await attest(one, locker)
    const sent = await transactionsOf(testbed.chain, async () => {
      const answers = await tenPushes()
      const [anchor] = await expectAnchors(one, testbed.chain, locker, [true])
      for (const answer of answers) expect(answer).toMatchObject({ anchor, attestation_status: 'complete' })
    })
    expect([sent, await publicationsOf(one, locker)]).toEqual([1, [expect.objectContaining({ state: 'landed' })]])
  })

  it('T-18 T-19 AMB-33 ten attest calls at once and the jobs of two gateways make and publish one statement', {
    tags: ['nightly'],
  }, async () => {
    const sent = await transactionsOf(testbed.chain, async () => {
      await queueToAttest(automatic[0]!, locker)
      const asked = TEN.map((i) => attest(automatic[i % 2]!, locker))
      const drained = automatic.map(({ gateway }) => gateway.context.queue.drain())
      const [answers] = await Promise.all([Promise.all(asked), Promise.all(drained)])
      for (const { push_result, attestation } of answers) {
        expect(push_result.anchor?.statement_digest).toBe(attestation.envelope?.statement_digest)
        expect(attestation.anchor).toEqual(push_result.anchor)
      }
      await automatic[0]?.gateway.context.queue.drain()
    })
    expect(sent).toBe(1)
    expect(await expectChain(one, locker)).toHaveLength(1)
    await expectAnchors(one, testbed.chain, locker, [true])
  })

  it('T-19 ten pushes and two watchers that find a transaction expired send one more', {
    tags: ['nightly'],
  }, async () => {
    testbed.node.behave(forgetfully)
    await attest(noWait, locker)
    testbed.chain.expireBlockhashes()
    testbed.node.behave(honestly)
    testbed.clock.advance(60)
    const watched = automatic.map(({ gateway }) => watchPublications(gateway.rooms.anchors))
    const sent = await transactionsOf(testbed.chain, () => Promise.all([tenPushes(), ...watched]))
    expect(sent).toBe(1)
    await expectAnchors(one, testbed.chain, locker, [true])
    const states = (await publicationsOf(one, locker)).map(({ state }) => state)
    expect(states.toSorted()).toEqual(['expired', 'landed'])
  })

  it('T-19 a push that gives up just when another resolves the transaction reports its outcome', async () => {
    await attest(one, locker)
    const held = testbed.hold('getSignatureStatuses', { answer: blindly })
    const asked = push(noWait, locker)
    await held.reached
    const { anchor } = await push(other, locker)
    held.release()
    expect(await asked).toMatchObject({ status: 'pushed', anchor, attestation_status: 'complete' })
    await expectAnchors(one, testbed.chain, locker, [true])
  })

  it.each([
    ['is done', false],
    ['is under way', true],
  ])('T-19 a push that the chain would refuse waits for another that %s', async (_name, isHeld) => {
    await attest(one, locker)
    const refused = testbed.hold('simulateTransaction', { answer: refusingly })
    const sent = await transactionsOf(testbed.chain, async () => {
      const late = push(one, locker)
      await refused.reached
      const open = isHeld ? testbed.hold('getSignatureStatuses') : null
      const early = push(other, locker)
      await (open?.reached ?? early)
      refused.release()
      open?.release()
      const { anchor } = await early
      expect(await late).toMatchObject({ status: 'pushed', anchor, attestation_status: 'complete' })
    })
    expect(sent).toBe(1)
    await expectAnchors(one, testbed.chain, locker, [true])
  })
})
