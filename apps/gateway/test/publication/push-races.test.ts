import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { expect, it } from 'vitest'
import { attest as attestLocker } from '../../src/evidence/attest.ts'
import { runAttestJob } from '../../src/evidence/attest-job.ts'
import { attest } from '../evidence/attest.ts'
import {
  expectAnchors,
  filledLocker,
  publicationsOf,
  push,
  transactionsOf,
  useAnchorTestbed,
} from './anchor-testbed.ts'
import { blindly, refusingly } from './node-faults.ts'

const testbed = useAnchorTestbed()

forEachDatabase('concurrent publishing', (database) => {
  const variables = (own = {}) => ({ DATABASE_URL: database.url, ...own })
  /** Two gateways that do not publish when they attest. */
  const instance = forAllTests(() => testbed.open(variables({ PUBLISH: 'on_request' })))
  const other = forAllTests(() => testbed.open(variables({ PUBLISH: 'on_request' })))
  const automatic = forAllTests(() => testbed.open(variables()))
  const noWait = forAllTests(() => testbed.open(variables({ CHAIN_WAIT_SECONDS: 'anchor=0' })))
  const locker = forEachTest(() => filledLocker(instance))

  it('T-19 ten concurrent pushes share one transaction', async () => {
    await attest(instance, locker)
    const sent = await transactionsOf(testbed.chain, async () => {
      const pushes = Array.from({ length: 10 }, (_, i) => push(i % 2 === 0 ? instance : other, locker))
      const answers = await Promise.all(pushes)
      const [anchor] = await expectAnchors(instance, testbed.chain, locker, [true])
      for (const answer of answers) expect(answer).toMatchObject({ anchor, attestation_status: 'complete' })
    })
    expect([sent, await publicationsOf(instance, locker)]).toEqual([1, [expect.objectContaining({ state: 'landed' })]])
  })

  it('T-19 a push that times out just when another resolves the transaction reports its outcome', async () => {
    await attest(instance, locker)
    const held = testbed.hold('getSignatureStatuses', { answer: blindly })
    const asked = push(noWait, locker)
    await held.reached
    const { anchor } = await push(other, locker)
    held.release()
    expect(await asked).toMatchObject({ status: 'pushed', anchor, attestation_status: 'complete' })
    await expectAnchors(instance, testbed.chain, locker, [true])
  })

  it.each([
    ['is done', false],
    ['is in progress', true],
  ])('T-19 a push that the chain would refuse reports the anchor of another that %s', async (_name, isHeld) => {
    await attest(instance, locker)
    const refused = testbed.hold('simulateTransaction', { answer: refusingly })
    const sent = await transactionsOf(testbed.chain, async () => {
      const late = push(automatic, locker)
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
    await expectAnchors(instance, testbed.chain, locker, [true])
  })

  it.each([
    ['sendTransaction', 'before'],
    ['sendTransaction', 'after'],
    ['getTransaction', 'before'],
  ] as const)(
    'ATT-03 a statement made while the older one is published (%s %s) gets its own anchor',
    async (method, when) => {
      await attest(instance, locker)
      const held = testbed.hold(method, { when })
      const older = push(instance, locker)
      await held.reached
      await locker.put('b', 'b')
      await attest(instance, locker)
      held.release()
      const newer = push(instance, locker)
      const answers = await Promise.all([older, newer])
      const anchors = await expectAnchors(instance, testbed.chain, locker, [true, true])
      expect(answers.map(({ anchor }) => anchor)).toEqual(anchors)
      expect(await publicationsOf(instance, locker)).toHaveLength(2)
    },
  )

  it('ATT-03 a statement made before the older one is sent is published instead', async () => {
    await attest(instance, locker)
    const held = testbed.hold('simulateTransaction')
    const older = push(instance, locker)
    await held.reached
    await locker.put('b', 'b')
    await attest(instance, locker)
    held.release()
    const sent = await transactionsOf(testbed.chain, async () => {
      const { anchor } = await older
      expect(await expectAnchors(instance, testbed.chain, locker, [false, true])).toEqual([anchor])
    })
    expect(sent).toBe(1)
  })

  it('ATT-03 ANCH-08 attesting answers with its own statement, even when a newer one exists meanwhile', async () => {
    const held = testbed.hold('getTransaction')
    const asked = attest(automatic, locker)
    await held.reached
    await locker.put('b', 'b')
    await attest(instance, locker)
    held.release()
    const { attestation, push_result, attestation_status } = await asked
    expect([push_result.status, attestation_status]).toEqual(['pushed', 'complete'])
    expect(attestation).toMatchObject({ evidence_seq: 1, anchor: push_result.anchor })
    await expectAnchors(instance, testbed.chain, locker, [true, false])
  })

  it('ANCH-11 AMB-33 a statement made by a call that does not publish is published by one that does', async () => {
    const { context } = automatic.gateway
    const { lockerId: locker_id, receiptId: receipt_id } = locker
    const withoutPush = attestLocker(context, { locker_id, receipt_id })
    await Promise.all([withoutPush, runAttestJob(context, receipt_id, 1)])
    await context.queue.drain()
    await expectAnchors(instance, testbed.chain, locker, [true])
  })
})
