import type { AttestAnswer } from '@svc/api/attestations'
import type { Simulation } from '@svc/api/evidence'
import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { honestly } from '@svc/devnet/faulty-node'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Identity, type TestGateway } from '@svc/devnet/services/test-gateway'
import { toHex } from '@svc/protocol/bytes'
import { issuerKeyId } from '@svc/protocol/ids'
import { beforeAll, expect, it } from 'vitest'
import { askToAttest, attest, queueToAttest, statusOf } from '../evidence/attest.ts'
import {
  expectAnchors,
  filledLocker,
  push,
  readTransaction,
  transactionsOf,
  useAnchorTestbed,
} from './anchor-testbed.ts'
import { DOWN } from './node-faults.ts'

const MEMO_V3 = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const DISABLED = { status: 'skipped', anchor: null, anchor_type: null, reason: 'push_disabled', error: null }

const testbed = useAnchorTestbed()

forEachDatabase('publishing', (database) => {
  /** A gateway that publishes when it attests; `manual` publishes only on a push. */
  let instance: TestGateway
  let manual: TestGateway
  beforeAll(async () => {
    instance = await testbed.open({ DATABASE_URL: database.url })
    manual = await testbed.open({ DATABASE_URL: database.url, PUBLISH: 'on_request' })
  })
  const drain = ({ gateway }: TestGateway) => gateway.context.queue.drain()

  it('ANCH-03 ANCH-06 attesting writes the statement into one memo', async () => {
    const locker = await instance.locker(ed25519Identity())
    await locker.put('secret plan.txt', 'bytes')
    const count = await transactionsOf(testbed.chain, async () => {
      const { push_result, attestation, attestation_status } = await attest(instance, locker)
      const { body, statement_digest } = attestation.envelope!
      const payload = {
        dg: statement_digest,
        k: issuerKeyId(toHex(instance.gateway.context.signers.statement.publicKey)),
        n: 1,
        pid: body.proof_id,
        root: body.merkle_root.slice('sha256:'.length),
        s: 'svc/anchor/v2',
        seq: 1,
        sid: body.snapshot_id,
        t: body.issued_at_unix,
      }
      const { anchor, ...result } = push_result
      expect(result).toEqual({ status: 'pushed', anchor_type: 'chain_memo_v2', reason: null, error: null })
      const { record, signers, instructions } = readTransaction(testbed.chain, anchor!.tx)
      expect(anchor).toEqual({
        type: 'chain_memo_v2',
        chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
        tx: record.signature,
        slot: record.slot,
        block_time: testbed.clock.now() / 1000,
        signer: PUBLICATION.address,
        fee_lamports: 5000,
        commitment: 'confirmed',
        finalized: false,
        statement_digest,
        snapshot_id: body.snapshot_id,
        payload,
        envelope_version: 2,
      })
      expect(attestation).toMatchObject({ anchor, attestation_status: 'complete' })
      expect(attestation_status).toBe('complete')
      expect(signers).toEqual([PUBLICATION.address])
      expect(instructions).toEqual([{ program: MEMO_V3, text: JSON.stringify(payload) }])
      const written = Buffer.from(record.wire, 'base64').toString('latin1')
      const { receiptId, lockerId, owner } = locker
      for (const secret of [receiptId, receiptId.slice(5), lockerId, lockerId.slice(5), 'secret plan', owner.identity])
        expect(written).not.toContain(secret)
      await drain(instance)
    })
    expect(count).toBe(1)
  })

  it('ATT-10 ATT-11 a push publishes a statement that attesting did not, and a second push costs nothing', async () => {
    const locker = await filledLocker(manual)
    const attested = await transactionsOf(testbed.chain, async () => {
      const { push_result, attestation_status } = await attest(manual, locker)
      expect([push_result, attestation_status]).toEqual([DISABLED, 'computed'])
      await queueToAttest(manual, locker)
      await drain(manual)
    })
    expect(attested).toBe(0)
    const first = await push(manual, locker)
    const [anchor] = await expectAnchors(manual, testbed.chain, locker, [true])
    expect(first).toEqual({
      ok: true,
      receipt_id: locker.receiptId,
      status: 'pushed',
      anchor,
      anchor_type: 'chain_memo_v2',
      reason: null,
      error: null,
      attestation_status: 'complete',
    })
    const again = await transactionsOf(testbed.chain, async () =>
      expect(await push(manual, locker)).toEqual({ ...first, status: 'already_anchored' }),
    )
    expect(again).toBe(0)
  })

  it('AMB-33 ATT-10 a statement that is still current is published once when it is attested again', async () => {
    const locker = await filledLocker(instance)
    await attest(manual, locker)
    const { unchanged, push_result } = await attest(instance, locker)
    expect([unchanged, push_result.status]).toEqual([true, 'pushed'])
    const later = await transactionsOf(testbed.chain, async () => {
      expect((await attest(instance, locker)).push_result).toMatchObject({ status: 'already_anchored' })
      await queueToAttest(instance, locker)
      await drain(instance)
    })
    expect(later).toBe(0)
    await expectAnchors(instance, testbed.chain, locker, [true])
  })

  it('STATE-09 ATT-05 attesting later publishes later', async () => {
    const locker = await filledLocker(instance)
    const count = await transactionsOf(testbed.chain, async () => {
      expect(await queueToAttest(instance, locker)).toMatchObject({ attestation_status: 'pending', push_result: null })
      await drain(instance)
    })
    expect(count).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true])
    expect((await instance.gateway.context.queue.counts()).push).toEqual({
      waiting: 0,
      delayed: 0,
      running: 0,
      dead: 0,
    })
  })

  it('FILE-32 ANCH-11 a statement made after a confirmation is published', async () => {
    const reattesting = await testbed.open({ DATABASE_URL: database.url, AUTO_REATTEST: 'true' })
    const locker = await filledLocker(reattesting)
    testbed.clock.advance(2)
    await drain(reattesting)
    await expectAnchors(reattesting, testbed.chain, locker, [true])
  })

  it('INT-01 INT-02 each internal call chooses whether to publish the statement', async () => {
    const ask = async (of: TestGateway, receipt_id: string, choice: object) =>
      (await of.send<AttestAnswer>('POST', '/v1/internal/attest', { receipt_id, force: true, ...choice })).body
    const locker = await filledLocker(instance)
    const { receiptId } = locker
    expect((await ask(instance, receiptId, { push: false })).push_result).toEqual(DISABLED)
    expect((await ask(manual, receiptId, {})).push_result).toEqual(DISABLED)
    expect((await ask(manual, receiptId, { push: true })).push_result).toMatchObject({ status: 'pushed' })
    expect((await ask(instance, receiptId, {})).push_result).toMatchObject({ status: 'pushed' })
    await drain(instance)
    await expectAnchors(instance, testbed.chain, locker, [false, false, true, true])
  })
})

it.each([
  ['publishes where that is enabled', { CRON_ATTEST_PUSH: 'true' }, 1],
  ['publishes nothing otherwise', {}, 0],
])('CRON-02 CRON-06 the attest schedule %s', async (_, variables, pushed) => {
  const instance = await testbed.open({ CRON_ATTEST_ENABLED: 'true', ...variables })
  const locker = await filledLocker(instance)
  await attest(instance, locker)
  await instance.gateway.context.queue.drain()
  testbed.clock.advance(86_400)
  const { body } = await instance.send<CronAttestAnswer>('POST', '/v1/internal/cron-attest', {})
  expect(body).toMatchObject({ selected: 1, attested: 1, pushed, failed: 0 })
  await instance.gateway.context.queue.drain()
  const anchors = await expectAnchors(instance, testbed.chain, locker, [true, pushed === 1])
  // The same files result in the same snapshot; only the statements differ.
  expect(new Set(anchors.map(({ snapshot_id }) => snapshot_id)).size).toBe(1)
})

const SKIPPED = { status: 'skipped', anchor: null, anchor_type: null, reason: 'no_feed_configured', error: null }

it.each([
  ['when anchors are off', { ANCHORS: 'off' }],
  ['when there is no primary chain', { PRIMARY_RPC_URLS: '', PRIMARY_TREASURY: '' }],
])(
  'ATT-12 ATT-23 attesting and pushing answer that nothing was published, without an error, %s',
  { tags: ['nightly'] },
  async (_why, variables) => {
    const instance = await testbed.open(variables)
    const locker = await filledLocker(instance)
    const count = await transactionsOf(testbed.chain, async () => {
      expect(await attest(instance, locker)).toMatchObject({ attestation_status: 'computed', push_result: SKIPPED })
      const answer = { ok: true, receipt_id: locker.receiptId, ...SKIPPED, attestation_status: 'computed' }
      expect(await push(instance, locker)).toEqual(answer)
      expect((await askToAttest(instance, locker, { sync: false })).status).toBe(202)
      expect(await instance.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    })
    expect(count).toBe(0)
    await expectAnchors(instance, testbed.chain, locker, [false])
  },
)

it('ATT-13 a simulation sends nothing to the chain, and names the memo that publishing then writes', async () => {
  const instance = await testbed.open({ PUBLISH: 'on_request' })
  const locker = await filledLocker(instance)
  await attest(instance, locker)
  const { receiptId: receipt_id } = locker
  let simulated: Simulation | undefined
  const count = await transactionsOf(testbed.chain, async () => {
    const { status, body } = await instance.send<Simulation>('POST', '/v1/attest/simulate', { receipt_id })
    expect([status, body.on_chain_write]).toEqual([200, false])
    simulated = body
    expect(await instance.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
  })
  expect(count).toBe(0)
  await expectAnchors(instance, testbed.chain, locker, [false])
  const { anchor } = await push(instance, locker)
  const { type, payload, signer, memo_bytes } = simulated!.would_write
  expect(anchor).toMatchObject({ type, payload, signer })
  const [memo] = readTransaction(testbed.chain, anchor!.tx).instructions
  expect(Buffer.byteLength(memo!.text)).toBe(memo_bytes)
})

it('ANCH-01 ANCH-04 a priority fee raises the cost and does not change the memo', async () => {
  const instance = await testbed.open({ ANCHORS: 'memo,priority=10000' })
  const locker = await filledLocker(instance)
  const { anchor } = (await attest(instance, locker)).push_result
  const { record, instructions } = readTransaction(testbed.chain, anchor!.tx)
  expect(anchor?.fee_lamports).toBe(Number(record.fee))
  expect(anchor?.fee_lamports).toBeGreaterThan(5000)
  const memos = instructions.filter(({ program }) => program?.startsWith('Memo'))
  expect(memos.map(({ text }) => JSON.parse(text))).toEqual([anchor?.payload])
})

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const NONE = { waiting: 0, delayed: 0, running: 0, dead: 0 }
/** Longer than any retry delay. */
const LATER = 2 * 3600

forEachDatabase('the job that publishes', (database) => {
  const instance = forAllTests(() => testbed.open({ DATABASE_URL: database.url }))
  const locker = forEachTest(() => filledLocker(instance))
  const drain = () => instance.gateway.context.queue.drain()
  const counts = async () => (await instance.gateway.context.queue.counts()).push

  it('ANCH-11 ATT-04 the push job is retried with growing delays until the chain is back', async () => {
    testbed.node.behave(DOWN)
    await queueToAttest(instance, locker)
    await drain()
    expect(await counts()).toEqual({ ...NONE, delayed: 1 })
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed', sequence: 1 })
    // The first delay is at least five seconds, the second ten.
    for (const pause of [5, 10]) {
      testbed.clock.advance(pause - 1)
      const asked = testbed.node.calls.length
      await drain()
      expect(testbed.node.calls.slice(asked)).toEqual([])
      testbed.clock.advance(pause + 1)
      await drain()
      expect(await counts()).toEqual({ ...NONE, delayed: 1 })
    }
    testbed.node.behave(honestly)
    testbed.clock.advance(LATER)
    expect(await transactionsOf(testbed.chain, drain)).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true])
    expect(await counts()).toEqual(NONE)
  })

  it('ANCH-11 the push job does nothing when the statement was published in the meantime', async () => {
    const sent = await transactionsOf(testbed.chain, async () => {
      await attest(instance, locker)
      expect(await counts()).toEqual({ ...NONE, waiting: 1 })
      await drain()
    })
    expect([sent, await counts()]).toEqual([1, NONE])
  })

  it('ANCH-11 the push job fails permanently on an error that is not retryable', async () => {
    const wrong = await testbed.open({ DATABASE_URL: database.url, ANCHORS: `memo,memo_program=${TOKEN_PROGRAM}` })
    const { queue } = wrong.gateway.context
    await queueToAttest(wrong, locker)
    const sent = await transactionsOf(testbed.chain, () => queue.drain())
    expect([sent, (await queue.counts()).push]).toEqual([0, { ...NONE, dead: 1 }])
    const [letter] = await queue.deadLetters()
    expect(letter).toMatchObject({ kind: 'push', attempts: 1, error: expect.stringContaining('transaction_refused') })
    // The admin corrects the setting and retries the job.
    await queue.retryDead(letter!.id)
    await drain()
    await expectAnchors(instance, testbed.chain, locker, [true])
  })
})
