import { randomBytes } from 'node:crypto'
import { honestly, withResult } from '@svc/devnet/faulty-node'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { attest } from '../attestations/attest.ts'
import {
  type AnchorTestbed,
  filledLocker,
  publicationsOf,
  readTransaction,
  startAnchorTestbed,
  transactionsOf,
} from './anchor-testbed.ts'
import { expectFailure, expectSuccess } from './expect-push.ts'
import { forgetfully } from './node-faults.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

let testbed: AnchorTestbed
beforeAll(async () => {
  testbed = await startAnchorTestbed()
})
afterAll(() => testbed.stop())
afterEach(() => testbed.node.behave(honestly))

/** A failed transaction costs its fee. */
const FAILED = { state: 'failed', fee_lamports: 5000 }

describe('a transaction that fails', () => {
  it('ATT-04 T-19 a transaction that fails on chain is reported as certain, costs its fee, and each push sends one more', async () => {
    // The token program refuses a memo; the node hides that in the simulation.
    const house = await testbed.open({ MEMO_PROGRAM: TOKEN_PROGRAM })
    const locker = await filledLocker(house)
    testbed.node.behave(
      withResult('simulateTransaction', ({ value, ...rest }: { value: object }) => ({
        ...rest,
        value: { ...value, err: null },
      })),
    )
    const sent = await transactionsOf(testbed.chain, async () => {
      const { push_result } = await attest(house, locker)
      expect(push_result).toMatchObject({ reason: 'transaction_failed', error: { retryable: true, ambiguous: false } })
      const { record } = readTransaction(testbed.chain, push_result.error!.tx_signature!)
      expect([record.err, record.fee]).toEqual([{ InstructionError: [0, expect.anything()] }, 5000n])
    })
    expect(sent).toBe(1)
    expect(await transactionsOf(testbed.chain, () => expectFailure(house, locker, { ambiguous: false }))).toBe(1)
    expect(await publicationsOf(house, locker)).toMatchObject([FAILED, FAILED])
  })

  it('ATT-04 a transaction that fails in its simulation is not sent, and is not retryable', async () => {
    const house = await testbed.open({ MEMO_PROGRAM: TOKEN_PROGRAM })
    const locker = await filledLocker(house)
    const sent = await transactionsOf(testbed.chain, async () => {
      await attest(house, locker)
      await expectFailure(house, locker, { retryable: false, ambiguous: false, tx_signature: null })
    })
    expect([sent, await publicationsOf(house, locker)]).toEqual([0, []])
  })

  it('ATT-04 a publication key without funds is reported, and the next push succeeds once it has some', async () => {
    const seed = randomBytes(32)
    const house = await testbed.open({ PUBLICATION_KEY: toHex(seed) })
    const locker = await filledLocker(house)
    const { push_result } = await attest(house, locker)
    expect(push_result.reason).toBe('publication_key_unfunded')
    const { error } = await expectFailure(house, locker, { retryable: true, ambiguous: false, tx_signature: null })
    expect(error).toContain('publication_key_unfunded')
    await call(testbed.chainUrl, 'dev_faucet', [toBase58(ed25519Signer(seed).publicKey), 'SOL', '0.001'])
    await expectSuccess(house, locker)
  })
})

describe('a node that stands still', () => {
  it('T-19 a push ends even when the node hands out the same blockhash forever', async () => {
    const DATABASE_URL = `sqlite:${testbed.variables.STORAGE_DIR}/gateway.db`
    const house = await testbed.open({ DATABASE_URL, ANCHOR_WAIT_SECONDS: '0' })
    const locker = await filledLocker(house)
    testbed.chain.hold()
    // The node drops what is sent, and claims that it has expired.
    const claim = withResult('getEpochInfo', (info: object) => ({ ...info, blockHeight: 4_000_000_000 }))
    testbed.node.behave((call) => (call.method === 'getEpochInfo' ? claim(call) : forgetfully(call)))
    expect((await attest(house, locker)).push_result).toMatchObject({ reason: 'transaction_expired' })
    await expectFailure(house, locker, { retryable: true, ambiguous: false })
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'expired' }])
    testbed.node.behave(honestly)
    testbed.chain.resume()
    await expectSuccess(await testbed.open({ DATABASE_URL }), locker)
  })
})
