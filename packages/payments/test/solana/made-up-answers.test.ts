// Answers of nodes of the primary chain. An example is JSON: the result of each method.

import { PRIMARY } from '@svc/api/networks'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, refusal } from '@svc/devnet/properties/rules'
import { toBase58 } from '@svc/protocol/bytes'
import { expect, it, onTestFinished } from 'vitest'
import { ChainUnavailable } from '../../src/nodes/node-pool.ts'
import { createSolanaBalanceReader } from '../../src/solana/balance-reader.ts'
import { createSolanaNodes } from '../../src/solana/nodes.ts'
import { createSolanaPaymentReader } from '../../src/solana/payment-reader.ts'
import { createSolanaDecimalsReader } from '../../src/solana/token-decimals.ts'
import { startLyingNode } from '../nodes/lying-node.ts'
import { LAMPORTS, PAYER, paymentMessage, TREASURY, withSignature } from './wire.ts'

const BYTES = withSignature(paymentMessage(0))
const TX = toBase58(BYTES.subarray(1, 65))
const DESTINATION = { asset: PRIMARY.nativeAsset, payTo: TREASURY }
const OUTCOMES: readonly string[] = ['found', 'not_found', 'rejected', 'unavailable']
const CONTEXT = { slot: 100 }

const ANSWERS = {
  getGenesisHash: PRIMARY.genesisHash,
  getTransaction: {
    slot: 99,
    blockTime: 1_800_000_000,
    transaction: [BYTES.toString('base64'), 'base64'],
    meta: {
      err: null,
      fee: 5000,
      preBalances: [10_000_000, 0, 1, 1],
      postBalances: [10_000_000 - LAMPORTS - 5000, LAMPORTS, 1, 1],
      preTokenBalances: [],
      postTokenBalances: [
        { accountIndex: 1, mint: TREASURY, owner: PAYER, uiTokenAmount: { amount: '18446744073709551615' } },
      ],
      innerInstructions: [{ index: 0, instructions: [{ programIdIndex: 3, accounts: [0], data: '3Bxs' }] }],
      loadedAddresses: { writable: [], readonly: [] },
    },
  },
  getLatestBlockhash: { context: CONTEXT, value: { blockhash: TREASURY, lastValidBlockHeight: 200 } },
  simulateTransaction: { context: CONTEXT, value: { err: { InstructionError: [0, 'x'] } } },
  sendTransaction: TX,
  getBlockHeight: 90,
  getEpochInfo: { absoluteSlot: 95, blockHeight: 90 },
  getFirstAvailableBlock: 5,
  getBlock: { blockHeight: 4 },
  getSignatureStatuses: { context: CONTEXT, value: [{ slot: 99, confirmationStatus: 'finalized', err: null }] },
  getSignaturesForAddress: [{ signature: TX, memo: '[1] x', err: null, slot: 99 }],
  getAccountInfo: { context: CONTEXT, value: { owner: PAYER, data: ['AAAA', 'base64'], lamports: 1 } },
  getMultipleAccounts: { context: CONTEXT, value: [{ owner: PAYER, data: ['AAAAAAAAAAA=', 'base64'], lamports: 7 }] },
  getBalance: { context: CONTEXT, value: 9_007_199_254_740_991 },
}
const HONEST = Buffer.from(JSON.stringify(ANSWERS))

it('T-129 no made-up input breaks the rules of answers of nodes of the primary chain', async () => {
  const node = await startLyingNode()
  const rpcUrls = [node.url]
  const reader = createSolanaPaymentReader({ rpcUrls, genesisHash: PRIMARY.genesisHash })
  const nodes = createSolanaNodes(PRIMARY, rpcUrls)
  const readBalances = createSolanaBalanceReader(PRIMARY, rpcUrls)
  const readDecimals = createSolanaDecimalsReader(PRIMARY, rpcUrls)
  const asked = <T>(question: () => Promise<T>) => question().catch(refusal(ChainUnavailable))

  onTestFinished(node.stop)
  expect(
    await problemWith({
      examples: [HONEST, JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32015, message: 'x' } })],
      words: [
        ...'finalized confirmed processed base64 err value meta 1e400 18446744073709551616'.split(' '),
        TX,
        PAYER,
      ],
      isJson: true,
      isCostly: true,
      maxBytes: 65_536,
      async rule(input) {
        node.answer(input)
        const isFound = await checkReading()
        must(isFound || !input.equals(HONEST), 'finds nothing in honest answers')
        await checkSending()
        await checkAccounts()
      },
    }),
  ).toBeNull()

  async function checkReading(): Promise<boolean> {
    const reading = await reader.read(TX, DESTINATION)
    must(OUTCOMES.includes(reading.outcome), 'has an unknown outcome')
    if (reading.outcome !== 'found') return false
    must(reading.tx === TX && reading.payer === PAYER, 'finds a payer who did not sign')
    must(reading.received > 0n && Number.isSafeInteger(reading.height), 'finds an invalid payment')
    must(reading.blockTime === null || Number.isSafeInteger(reading.blockTime), 'finds an invalid time')
    return true
  }

  async function checkSending(): Promise<void> {
    const life = await asked(() => nodes.lifetime())
    if (life) must(typeof life.lastValidBlockHeight === 'bigint', 'a lifetime has no height')
    const error = await asked(() => nodes.simulate(BYTES.toString('base64'), { sigVerify: true }))
    must(error === null || typeof error === 'string', 'an error is not text')
    await nodes.send(BYTES.toString('base64'))
    for (const { status } of (await nodes.sightings([{ tx: TX, last_valid_height: 1 }]))[0] ?? [])
      must(status === null || Number.isFinite(status.slot), 'a sighting has no slot')
    const costs = await asked(() => nodes.costs(TX))
    if (costs)
      must(
        Object.values(costs).every((cost) => cost === null || Number.isFinite(cost)),
        'a cost is not a number',
      )
    const height = await asked(() => nodes.height())
    must(height === null || Number.isFinite(height), 'a height is not a number')
  }

  async function checkAccounts(): Promise<void> {
    const history = await asked(() => nodes.history(TREASURY, { limit: 10 }))
    for (const { tx, memo } of history ?? []) {
      must(typeof tx === 'string' && (memo === null || typeof memo === 'string'), 'a history has an invalid entry')
    }
    const wire = await asked(() => nodes.wire(TX))
    must(wire === null || wire instanceof Uint8Array, 'a transaction is not bytes')
    const account = await asked(() => nodes.account(TREASURY))
    must(account === null || typeof account.owner === 'string', 'an account has no owner')
    const balance = await asked(() => nodes.balance(TREASURY))
    must(balance === null || typeof balance === 'bigint', 'a balance is not a number')
    const [held = null] = await readBalances.read([DESTINATION])
    must(held === null || typeof held === 'bigint', "the treasury's balance is not a number")
    const [decimals = null] = (await asked(() => readDecimals([TREASURY]))) ?? []
    must(decimals === null || Number.isInteger(decimals), 'decimals are not a number')
  }
})
