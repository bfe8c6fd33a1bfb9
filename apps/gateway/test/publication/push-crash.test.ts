import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import type { TestLocker } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { askToAttest, attest } from '../evidence/attest.ts'
import { askToPush, expectAnchors, filledLocker, publicationsOf, push, useAnchorTestbed } from './anchor-testbed.ts'
import { blindly, type HoldOptions, holdAt } from './node-faults.ts'

interface Step {
  /** The call during which the gateway is killed. */
  at: string
  options?: HoldOptions
  /** Kill during the second such call; the first one finds no transaction. */
  isSecond?: boolean
  /** Whether the transaction is recorded before this step. */
  isRecorded?: boolean
}

/** The calls of a push in order. */
const STEPS: Step[] = [
  { at: 'getLatestBlockhash' },
  { at: 'simulateTransaction' },
  { at: 'simulateTransaction', options: { when: 'after' } },
  { at: 'sendTransaction', isRecorded: true },
  { at: 'sendTransaction', options: { when: 'after' }, isRecorded: true },
  { at: 'getEpochInfo', isRecorded: true },
  { at: 'getSignatureStatuses', isRecorded: true },
  { at: 'getSignatureStatuses', isSecond: true, isRecorded: true },
  { at: 'getSignatureStatuses', options: { when: 'after' }, isRecorded: true },
  { at: 'getTransaction', isRecorded: true },
  { at: 'getTransaction', options: { when: 'after' }, isRecorded: true },
]

const testbed = useAnchorTestbed()

/** Sends a request and waits until it has reached the step. */
async function interruptAt({ at, options, isSecond = false }: Step, ask: () => Promise<unknown>): Promise<void> {
  const held = holdAt(at, options)
  let isPassed = !isSecond
  testbed.node.behave((call) => {
    if (isPassed || call.method !== at) return held.behaviour(call)
    isPassed = true
    return blindly(call)
  })
  void ask().catch(() => {})
  await held.reached
  testbed.node.behave(honestly)
}

forEachDatabase('a gateway that is killed while it publishes', (database) => {
  it('T-34 ANCH-11 after a gateway is killed at any step of a push, another one publishes its statement exactly once', {
    tags: ['nightly'],
  }, async () => {
    const variables = { DATABASE_URL: database.url, CHAIN_WAIT_SECONDS: 'anchor=30', RATE_LIMITS: 'anchors=1/hour' }
    const instance = await testbed.open({ ...variables, PUBLISH: 'on_request' })
    const { context } = instance.gateway
    const attested = async () => {
      const locker = await filledLocker(instance)
      await attest(instance, locker)
      return locker
    }
    const statesOf = (lockers: TestLocker[]) =>
      Promise.all(lockers.map(async (locker) => (await publicationsOf(instance, locker)).map(({ state }) => state)))
    /** The interrupted call may be the retry of an earlier one, so wait until the transaction is recorded. */
    const untilRecorded = (locker: TestLocker) => expect.poll(() => publicationsOf(instance, locker)).toHaveLength(1)
    const untilPublished = (locker: TestLocker) =>
      expect.poll(async () => (await push(instance, locker)).attestation_status).toBe('complete')
    const starting = testbed.openProcess(variables)
    const asked = await Promise.all(STEPS.map(attested))
    const sent = await filledLocker(instance)
    const before = testbed.chain.transactions().length

    const killed = await starting
    for (const [i, step] of STEPS.entries()) {
      await interruptAt(step, () => askToPush(killed.instance, asked[i]!))
      if (step.isRecorded) await untilRecorded(asked[i]!)
    }
    await interruptAt({ at: 'sendTransaction' }, () => askToAttest(killed.instance, sent))
    await untilRecorded(sent)
    await killed.kill()
    const recorded = (await statesOf(asked)).map(({ length }) => length)
    expect(recorded).toEqual(STEPS.map(({ isRecorded }) => (isRecorded ? 1 : 0)))

    // An attest call has also queued a push job.
    await Promise.all([context.queue.drain(), ...asked.map(untilPublished)])
    for (const locker of [...asked, sent]) await expectAnchors(instance, testbed.chain, locker, [true])
    expect(await statesOf([...asked, sent])).toEqual(
      [...asked, sent].map(() => [expect.stringMatching(/landed|finalized/)]),
    )
    expect(testbed.chain.transactions().length - before).toBe(STEPS.length + 1)
  })
})
