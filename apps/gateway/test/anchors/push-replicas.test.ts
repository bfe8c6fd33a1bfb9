import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { watchPublications } from '../../src/anchors/watch-publications.ts'
import { attest, expectChain, queueToAttest } from '../attestations/attest.ts'
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
import { blindly, forgetfully, type Hold, type HoldOptions, holdAt, refusingly } from './node-faults.ts'

let harbour: Harbour
let database: FreshDatabase
/** They do not publish what they attest. */
let one: LockerHouse
let other: LockerHouse
let keen: LockerHouse[]
let hasty: LockerHouse
let locker: TestLocker
beforeAll(async () => {
  harbour = await openHarbour()
  database = await createFreshDatabase('postgres')
  const variables = { DATABASE_URL: database.url }
  const quiet = { ...variables, ATTEST_PUSH: 'false' }
  one = await harbour.open(quiet)
  other = await harbour.open(quiet)
  hasty = await harbour.open({ ...variables, ANCHOR_WAIT_SECONDS: '0' })
  keen = [await harbour.open(variables), await harbour.open(variables)]
})
afterAll(async () => {
  await harbour.stop()
  await database.drop()
})
beforeEach(async () => {
  locker = await filledLocker(one)
})
afterEach(() => harbour.node.behave(honestly))

const TWENTY = Array.from({ length: 20 }, (_, i) => i)
const twentyPush = () => Promise.all(TWENTY.map((i) => push(i % 2 === 0 ? one : other, locker)))

function hold(method: string, options?: HoldOptions): Hold {
  const held = holdAt(method, options)
  harbour.node.behave(held.behaviour)
  return held
}

describe('two gateways on one database', () => {
  it('T-19 twenty pushes at once share one transaction', async () => {
    await attest(one, locker)
    const sent = await transactionsOf(harbour.chain, async () => {
      const answers = await twentyPush()
      const [anchor] = await expectAnchors(one, harbour.chain, locker, [true])
      for (const answer of answers) expect(answer).toMatchObject({ anchor, attestation_status: 'complete' })
    })
    expect([sent, await publicationsOf(one, locker)]).toEqual([1, [expect.objectContaining({ state: 'finalized' })]])
  })

  it('T-18 T-19 AMB-33 twenty attest calls at once, and the jobs of both, make and publish one statement', async () => {
    const sent = await transactionsOf(harbour.chain, async () => {
      await queueToAttest(keen[0]!, locker)
      const asked = TWENTY.map((i) => attest(keen[i % 2]!, locker))
      const drained = keen.map(({ gateway }) => gateway.context.queue.drain())
      const [answers] = await Promise.all([Promise.all(asked), Promise.all(drained)])
      for (const { push_result, attestation } of answers) {
        expect(push_result.anchor?.statement_digest).toBe(attestation.envelope?.statement_digest)
        expect(attestation.anchor).toEqual(push_result.anchor)
      }
      await keen[0]?.gateway.context.queue.drain()
    })
    expect(sent).toBe(1)
    expect(await expectChain(one, locker)).toHaveLength(1)
    await expectAnchors(one, harbour.chain, locker, [true])
  })

  it('T-19 twenty pushes that find the first expired, and the watchers of both, send one more', async () => {
    harbour.node.behave(forgetfully)
    await attest(hasty, locker)
    harbour.chain.expireBlockhashes()
    harbour.node.behave(honestly)
    harbour.clock.advance(60)
    const watched = keen.map(({ gateway }) => watchPublications(gateway.rooms.anchors))
    const sent = await transactionsOf(harbour.chain, () => Promise.all([twentyPush(), ...watched]))
    expect(sent).toBe(1)
    await expectAnchors(one, harbour.chain, locker, [true])
    const states = (await publicationsOf(one, locker)).map(({ state }) => state)
    expect(states.toSorted()).toEqual(['expired', 'finalized'])
  })

  it('T-19 a push that gives up just when another resolves the transaction reports its outcome', async () => {
    await attest(one, locker)
    const held = hold('getSignatureStatuses', { answer: blindly })
    const asked = push(hasty, locker)
    await held.reached
    const { anchor } = await push(other, locker)
    held.letGo()
    expect(await asked).toMatchObject({ status: 'pushed', anchor, attestation_status: 'complete' })
    await expectAnchors(one, harbour.chain, locker, [true])
  })

  it.each([
    ['is done', false],
    ['is under way', true],
  ])('T-19 a push that the chain would refuse waits for another that %s', async (_name, isHeld) => {
    await attest(one, locker)
    const refused = hold('simulateTransaction', { answer: refusingly })
    const sent = await transactionsOf(harbour.chain, async () => {
      const late = push(one, locker)
      await refused.reached
      const open = isHeld ? hold('getSignatureStatuses') : null
      const early = push(other, locker)
      await (open?.reached ?? early)
      refused.letGo()
      open?.letGo()
      const { anchor } = await early
      expect(await late).toMatchObject({ status: 'pushed', anchor, attestation_status: 'complete' })
    })
    expect(sent).toBe(1)
    await expectAnchors(one, harbour.chain, locker, [true])
  })
})
