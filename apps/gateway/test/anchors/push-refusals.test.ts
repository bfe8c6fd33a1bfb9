import { randomBytes } from 'node:crypto'
import { honestly, withResult } from '@svc/devnet/faulty-node'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { attest } from '../attestations/attest.ts'
import {
  filledLocker,
  type Harbour,
  openHarbour,
  publicationsOf,
  readTransaction,
  transactionsOf,
} from './anchor-gateways.ts'
import { expectFailure, expectSuccess } from './expect-push.ts'
import { forgetfully } from './node-faults.ts'

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

let harbour: Harbour
beforeAll(async () => {
  harbour = await openHarbour()
})
afterAll(() => harbour.stop())
afterEach(() => harbour.node.behave(honestly))

/** It cost its fee all the same. */
const FAILED = { state: 'failed', fee_lamports: 5000 }

describe('a transaction that fails', () => {
  it('ATT-04 T-19 on chain is reported as certain, has cost its fee, and each push sends one more', async () => {
    // The token program can make nothing of a memo; only the simulation is a lie.
    const house = await harbour.open({ MEMO_PROGRAM: TOKEN_PROGRAM })
    const locker = await filledLocker(house)
    harbour.node.behave(
      withResult('simulateTransaction', ({ value, ...rest }: { value: object }) => ({
        ...rest,
        value: { ...value, err: null },
      })),
    )
    const sent = await transactionsOf(harbour.chain, async () => {
      const { push_result } = await attest(house, locker)
      expect(push_result).toMatchObject({ reason: 'transaction_failed', error: { retryable: true, ambiguous: false } })
      const { record } = readTransaction(harbour.chain, push_result.error!.tx_signature!)
      expect([record.err, record.fee]).toEqual([{ InstructionError: [0, expect.anything()] }, 5000n])
    })
    expect(sent).toBe(1)
    expect(await transactionsOf(harbour.chain, () => expectFailure(house, locker, { ambiguous: false }))).toBe(1)
    expect(await publicationsOf(house, locker)).toMatchObject([FAILED, FAILED])
  })

  it('ATT-04 in its simulation is not sent, and is not retryable', async () => {
    const house = await harbour.open({ MEMO_PROGRAM: TOKEN_PROGRAM })
    const locker = await filledLocker(house)
    const sent = await transactionsOf(harbour.chain, async () => {
      await attest(house, locker)
      await expectFailure(house, locker, { retryable: false, ambiguous: false, tx_signature: null })
    })
    expect([sent, await publicationsOf(house, locker)]).toEqual([0, []])
  })

  it('ATT-04 for lack of funds is reported as such, and the next push succeeds once there are some', async () => {
    const seed = randomBytes(32)
    const house = await harbour.open({ PUBLICATION_KEY: toHex(seed) })
    const locker = await filledLocker(house)
    const { push_result } = await attest(house, locker)
    expect(push_result.reason).toBe('publication_key_unfunded')
    const { error } = await expectFailure(house, locker, { retryable: true, ambiguous: false, tx_signature: null })
    expect(error).toContain('publication_key_unfunded')
    await call(harbour.chainUrl, 'dev_faucet', [toBase58(ed25519Signer(seed).publicKey), 'SOL', '0.001'])
    await expectSuccess(house, locker)
  })
})

describe('a node that stands still', () => {
  it('T-19 and hands out the same blockhash forever does not keep a push from ending', async () => {
    const house = await harbour.open({ ANCHOR_WAIT_SECONDS: '0' })
    const locker = await filledLocker(house)
    // It forgets what is sent, and claims that time is up.
    const claimed = '{"jsonrpc":"2.0","id":1,"result":4000000000}'
    harbour.node.behave((call) => (call.method === 'getBlockHeight' ? { body: claimed } : forgetfully(call)))
    expect((await attest(house, locker)).push_result).toMatchObject({ reason: 'transaction_expired' })
    await expectFailure(house, locker, { retryable: true, ambiguous: false })
    expect(await publicationsOf(house, locker)).toMatchObject([{ state: 'expired' }])
    harbour.node.behave(honestly)
    harbour.clock.advance(1)
    await expectSuccess(house, locker)
  })
})
