import { randomBytes } from 'node:crypto'
import type { AnchorError } from '@svc/api/attestations'
import type { VerifyAnswer } from '@svc/api/evidence'
import { forEachDatabase } from '@svc/devnet/databases'
import { type Behaviour, honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { forEachTest } from '@svc/devnet/for-tests'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { expectRefusal, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { ed25519Signer } from '@svc/protocol/keys'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { attest, statusOf } from '../evidence/attest.ts'
import {
  askToPush,
  expectAnchors,
  filledLocker,
  publicationsOf,
  push,
  readTransaction,
  transactionsOf,
  useAnchorTestbed,
} from './anchor-testbed.ts'
import { blindly, DOWN, downFor, forgetfully, muteFor, refusingly } from './node-faults.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

const testbed = useAnchorTestbed()

async function factsOf(instance: TestGateway, { receiptId }: TestLocker) {
  const { body } = await instance.send<VerifyAnswer>('GET', `/v1/storage/verify?receipt_id=${receiptId}`)
  return { error: body.attestation?.last_anchor_error, facts: body.verification, anchor: body.anchor }
}

/** Expects that a push fails and that its error is public; returns the error. */
async function expectFailure(instance: TestGateway, locker: TestLocker, wanted: object): Promise<AnchorError> {
  const reply = await askToPush<{ details: AnchorError; hint: string }>(instance, locker)
  expectRefusal(reply, 502, 'anchor_failed')
  expect(reply.body.details).toMatchObject(wanted)
  expect(reply.body.hint).toMatch(/repeat the push|the admin of/)
  const { error, facts, anchor } = await factsOf(instance, locker)
  expect([error, anchor]).toEqual([reply.body.details, null])
  expect(facts).toMatchObject({ anchor_submitted: 'not_checked', anchor_confirmed: 'failed' })
  return reply.body.details
}

/** Expects that a push succeeds and clears the recorded error. */
async function expectSuccess(instance: TestGateway, locker: TestLocker) {
  expect(await push(instance, locker)).toMatchObject({ status: 'pushed', attestation_status: 'complete' })
  const { error, facts } = await factsOf(instance, locker)
  expect(error).toBeUndefined()
  expect(facts).toMatchObject({ anchor_submitted: 'passed', anchor_confirmed: 'passed' })
}

forEachDatabase('a chain that fails', (database) => {
  /** A gateway that does not wait for an outcome. */
  let instance: TestGateway
  let waiting: TestGateway
  const locker = forEachTest(() => filledLocker(instance))
  beforeAll(async () => {
    instance = await testbed.open({ DATABASE_URL: database.url, CHAIN_WAIT_SECONDS: 'anchor=0' })
    waiting = await testbed.open({ DATABASE_URL: database.url })
  })

  it('VER-07 VER-06 a statement that cannot be sent because no node answers is stored and published later', async () => {
    testbed.node.behave(DOWN)
    const { push_result, attestation, attestation_status } = await attest(instance, locker)
    const error = { retryable: true, ambiguous: false, tx_signature: null, at: isoSeconds(testbed.clock.now() / 1000) }
    expect(push_result).toMatchObject({ status: 'failed', anchor: null, reason: 'rpc_unavailable', error })
    expect(attestation).toMatchObject({ evidence_seq: 1, anchor: null, last_anchor_error: push_result.error })
    expect(attestation_status).toBe('computed')
    for (const behaviour of [DOWN, downFor('getLatestBlockhash'), downFor('simulateTransaction')]) {
      testbed.node.behave(behaviour)
      await expectFailure(instance, locker, error)
    }
    expect(await publicationsOf(instance, locker)).toEqual([])
    testbed.node.behave(honestly)
    expect(await transactionsOf(testbed.chain, () => expectSuccess(waiting, locker))).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true])
  })

  it('T-19 ATT-04 after a node has lost a transaction, no other is sent until it has expired', async () => {
    testbed.node.behave(forgetfully)
    const { push_result } = await attest(instance, locker)
    const tx_signature = push_result.error!.tx_signature!
    const open = { retryable: true, ambiguous: true, tx_signature }
    expect(push_result).toMatchObject({ status: 'failed', reason: 'outcome_unknown', error: open })
    testbed.clock.advance(30)
    await expectFailure(instance, locker, open)
    expect(await publicationsOf(instance, locker)).toMatchObject([{ tx: tx_signature, state: 'sent' }])
    testbed.chain.expireBlockhashes()
    testbed.node.behave(honestly)
    testbed.clock.advance(1)
    expect(await transactionsOf(testbed.chain, () => expectSuccess(waiting, locker))).toBe(1)
    const [anchor] = await expectAnchors(instance, testbed.chain, locker, [true])
    expect(await publicationsOf(instance, locker)).toMatchObject([
      { tx: tx_signature, state: 'expired', fee_lamports: null },
      { tx: anchor!.tx, state: 'landed', fee_lamports: 5000, rent_lamports: 0 },
    ])
  })

  it.each([
    ['sendTransaction', 'getSignatureStatuses'],
    ['getSignatureStatuses'],
    ['getEpochInfo'],
    ['getTransaction'],
  ])(
    'ATT-04 ANCH-04 a sent transaction is found by its signature when %s did not answer, and nothing more is paid',
    async (...methods) => {
      testbed.node.behave(muteFor(...methods))
      let lost: AnchorError | null = null
      const sent = await transactionsOf(testbed.chain, async () => {
        lost = (await attest(instance, locker)).push_result.error
      })
      expect([sent, lost]).toEqual([1, expect.objectContaining({ retryable: true, ambiguous: true })])
      const { tx_signature } = await expectFailure(instance, locker, { ambiguous: true })
      expect(readTransaction(testbed.chain, tx_signature!).record.err).toBeNull()
      testbed.node.behave(honestly)
      expect(await transactionsOf(testbed.chain, () => expectSuccess(waiting, locker))).toBe(0)
      const [anchor] = await expectAnchors(instance, testbed.chain, locker, [true])
      expect(anchor).toMatchObject({ tx: tx_signature, slot: expect.any(Number), fee_lamports: 5000 })
    },
  )

  it('T-19 ATT-04 a statement waits while an earlier transaction is pending, and is published after its expiry', async () => {
    testbed.node.behave(forgetfully)
    await attest(instance, locker)
    await locker.put('b', 'b')
    const { push_result, attestation } = await attest(instance, locker)
    const error = { retryable: true, ambiguous: false, tx_signature: null }
    expect(push_result).toMatchObject({ status: 'failed', reason: 'earlier_statement_open', error })
    expect(attestation).toMatchObject({ evidence_seq: 2, anchor: null, last_anchor_error: push_result.error })
    const again = await askToPush<{ details: AnchorError }>(instance, locker)
    expectRefusal(again, 502, 'anchor_failed')
    const { status, anchor_error } = (await statusOf(instance, locker))!
    expect([status, JSON.parse(anchor_error!)]).toEqual(['computed', again.body.details])
    testbed.node.behave(honestly)
    testbed.chain.expireBlockhashes()
    expect(await transactionsOf(testbed.chain, () => push(waiting, locker))).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [false, true])
  })

  it('T-19 ATT-03 a push records an earlier transaction as landed, and gives the newest statement its own anchor', async () => {
    testbed.node.behave(muteFor('getSignatureStatuses'))
    await attest(instance, locker)
    testbed.node.behave(honestly)
    await locker.put('b', 'b')
    const sent = await transactionsOf(testbed.chain, async () => {
      const { anchor } = (await attest(waiting, locker)).push_result
      expect(anchor?.payload).toMatchObject({ seq: 2 })
    })
    expect(sent).toBe(1)
    await expectAnchors(instance, testbed.chain, locker, [true, true])
  })
})

describe('a transaction that fails', () => {
  it('ATT-04 T-19 is reported as final when it fails on chain, costs its fee, and is followed by one transaction per push', async () => {
    // The token program refuses a memo, and the node hides that in the simulation.
    const instance = await testbed.open({ ANCHORS: `memo,memo_program=${TOKEN_PROGRAM}` })
    const locker = await filledLocker(instance)
    testbed.node.behave(
      withResult('simulateTransaction', ({ value, ...rest }: { value: object }) => ({
        ...rest,
        value: { ...value, err: null },
      })),
    )
    const sent = await transactionsOf(testbed.chain, async () => {
      const { push_result } = await attest(instance, locker)
      expect(push_result).toMatchObject({ reason: 'transaction_failed', error: { retryable: true, ambiguous: false } })
      const { record } = readTransaction(testbed.chain, push_result.error!.tx_signature!)
      expect([record.err, record.fee]).toEqual([{ InstructionError: [0, expect.anything()] }, 5000n])
      await expectFailure(instance, locker, { ambiguous: false })
    })
    expect(sent).toBe(2)
    const failed = { state: 'failed', fee_lamports: 5000 }
    expect(await publicationsOf(instance, locker)).toMatchObject([failed, failed])
  })

  it('ATT-04 is neither sent nor retryable when it fails in its simulation', async () => {
    const instance = await testbed.open({ ANCHORS: `memo,memo_program=${TOKEN_PROGRAM}` })
    const locker = await filledLocker(instance)
    const sent = await transactionsOf(testbed.chain, async () => {
      await attest(instance, locker)
      await expectFailure(instance, locker, { retryable: false, ambiguous: false, tx_signature: null })
    })
    expect([sent, await publicationsOf(instance, locker)]).toEqual([0, []])
  })

  it('ATT-04 is reported when the key lacks funds, and the next push succeeds once it has some', async () => {
    const seed = randomBytes(32)
    const instance = await testbed.open({ PUBLICATION_KEY: toHex(seed) })
    const locker = await filledLocker(instance)
    const { push_result } = await attest(instance, locker)
    expect(push_result.reason).toBe('publication_key_unfunded')
    const { error } = await expectFailure(instance, locker, { retryable: true, ambiguous: false, tx_signature: null })
    expect(error).toContain('publication_key_unfunded')
    await call(testbed.chainUrl, 'dev_faucet', [toBase58(ed25519Signer(seed).publicKey), 'SOL', '0.001'])
    await expectSuccess(instance, locker)
  })

  it('T-19 is not repeated endlessly when the node always returns the same blockhash', async () => {
    const instance = await testbed.open()
    const locker = await filledLocker(instance)
    testbed.chain.hold()
    // The node drops every transaction and claims that it has expired.
    const claim = withResult('getEpochInfo', (info: object) => ({ ...info, blockHeight: 4_000_000_000 }))
    testbed.node.behave((call) => (call.method === 'getEpochInfo' ? claim(call) : forgetfully(call)))
    expect((await attest(instance, locker)).push_result).toMatchObject({ reason: 'transaction_expired' })
    await expectFailure(instance, locker, { retryable: true, ambiguous: false })
    expect(await publicationsOf(instance, locker)).toMatchObject([{ state: 'expired' }])
    testbed.node.behave(honestly)
    testbed.chain.resume()
    await expectSuccess(instance, locker)
  })
})

describe('a gateway with two nodes', () => {
  it.each<[string, Behaviour]>([
    ['hangs on sendTransaction', (call) => (call.method === 'sendTransaction' ? null : honestly(call))],
    ['would refuse the transaction', refusingly],
    ['has not seen the transaction', blindly],
    ['belongs to another chain', withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG')],
  ])(
    'T-19 publishes through the second, and sends nothing twice, when the first %s',
    { tags: ['nightly'] },
    async (_name, behaviour) => {
      const bad = await startFaultyNode(testbed.chainUrl, behaviour)
      onTestFinished(bad.stop)
      const instance = await testbed.open({ PRIMARY_RPC_URLS: `${bad.url},${testbed.node.url}` })
      const locker = await filledLocker(instance)
      const sent = await transactionsOf(testbed.chain, async () => {
        expect((await attest(instance, locker)).push_result).toMatchObject({ status: 'pushed', error: null })
      })
      expect(sent).toBe(1)
      await expectAnchors(instance, testbed.chain, locker, [true])
    },
  )
})
