import { coinOf } from '@svc/api/assets'
import { type EvmNetwork, NATIVE_ASSETS } from '@svc/api/networks'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { numberToHex } from 'viem'
import { type JsonRpcBatch, RpcError } from '../nodes/json-rpc.ts'
import { ChainUnavailable } from '../nodes/node-pool.ts'
import { agreedOutcome, OWN_PAYMENT, type PayableLeg, type PayerNode, shortage } from '../payer-node.ts'
import { createEvmBalanceReader } from './balance-reader.ts'
import { answerOf } from './errors.ts'
import { connectEvm, connectEvmBatches, type EvmRpc } from './nodes.ts'
import { quantity, readReceipt, record } from './rpc-answers.ts'
import { inspectEvmPayment, type TransferCall, transferCall } from './signed-payment.ts'

/** Until when a transaction can land: until another one with its nonce is final. */
interface Life {
  nonce: string
  /** The newest block when it was signed. */
  block: string
}

export type EvmPayerNode = PayerNode<Life>

/** The usual maximum of a transfer, for cases that the chain cannot estimate: no payer, or a payer with too little. */
const USUAL_GAS = { coin: 30_000n, token: 80_000n }
/** Every token is a contract, and the payer pays for its gas. */
const MAX_GAS = 1_000_000n

export function createEvmPayerNode(network: EvmNetwork, rpcUrls: readonly string[], quorum = 1): EvmPayerNode {
  const { ticker, decimals } = coinOf(network)
  const coin = { ticker, decimals }
  const pool = connectEvm(network, rpcUrls)
  const batches = connectEvmBatches(network, rpcUrls)
  const balanceReader = createEvmBalanceReader(network, rpcUrls)

  async function balancesOf({ asset }: PayableLeg, payer: string): Promise<Balances> {
    const [coins, assetBalance] = await balanceReader.read([
      { asset: NATIVE_ASSETS.evm, payTo: payer },
      { asset, payTo: payer },
    ])
    if (coins == null || assetBalance == null) throw new ChainUnavailable('no node of the EVM chain reports a balance')
    return { coins, assetBalance }
  }

  return {
    isAddress: (text) => /^0x[0-9a-f]{40}$/i.test(text),

    async facts(leg, address) {
      const payer = address === null ? null : address.toLowerCase()
      const call = transferCall(leg)
      const [costs, balances] = await Promise.all([
        pool.first((rpc, signal) => costsOf(rpc, call, payer, signal)),
        payer === null ? null : balancesOf(leg, payer),
      ])
      const gas = costs.gas ?? (call.value > 0n ? USUAL_GAS.coin : USUAL_GAS.token)
      const fee = gas * costs.maxFeePerGas
      return {
        fee: { amount: String(fee), ...coin },
        balances: balances ? { asset: String(balances.assetBalance), coin: String(balances.coins) } : null,
        objection: payer !== null && balances ? objectionTo(leg, payer, balances, { gas: costs.gas, fee, coin }) : null,
        eip155: {
          chain_id: network.chainId,
          to: call.to,
          value: String(call.value),
          data: call.data,
          gas: String(gas),
          max_fee_per_gas: String(costs.maxFeePerGas),
          max_priority_fee_per_gas: String(costs.maxPriorityFeePerGas),
          nonce: costs.nonce,
          block: String(costs.block),
        },
      }
    },

    inspect: (transaction, legs) => inspectEvmPayment(network, transaction, legs),

    async send({ tx, raw }) {
      const refusal = await pool.first(
        (rpc, signal) => refusalOf(rpc, raw, signal),
        (words) => words === null,
      )
      if (refusal === null || (await isKnown(tx))) return null
      return describeRefusal(refusal, ticker)
    },

    async outcome({ tx, payer, life }) {
      return agreedOutcome(await batches.all((ask, signal) => outcomeAt(ask, tx, payer, life, signal)), quorum)
    },
  }

  /** Rejects a transaction that has landed, too: its nonce is used. */
  function isKnown(tx: string): Promise<boolean> {
    return pool.first(
      async (rpc, signal) => (await rpc('eth_getTransactionByHash', [tx], signal)) !== null,
      (wasFound) => wasFound,
    )
  }
}

interface Balances {
  coins: bigint
  /** The balance of the asset. */
  assetBalance: bigint
}

interface Costs {
  block: bigint
  nonce: number | null
  /** Null when the chain cannot estimate it: without a payer, or for a transaction that would fail. */
  gas: bigint | null
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

async function costsOf(rpc: EvmRpc, call: TransferCall, payer: string | null, signal: AbortSignal): Promise<Costs> {
  const ask: Ask = (method, params) => rpc(method, params, signal)
  const [latest, suggested, nonce, gas] = await Promise.all([
    ask('eth_getBlockByNumber', ['latest', false]).then(record),
    // Not every node has this method.
    unlessRefused(ask('eth_maxPriorityFeePerGas', [])),
    payer === null ? null : ask('eth_getTransactionCount', [payer, 'pending']),
    payer === null
      ? null
      : unlessRefused(ask('eth_estimateGas', [{ from: payer, ...call, value: numberToHex(call.value) }])),
  ])
  const base = quantity(latest.baseFeePerGas)
  const priority = suggested === null ? aboveBase(quantity(await ask('eth_gasPrice', [])), base) : quantity(suggested)
  return {
    block: quantity(latest.number),
    nonce: nonce === null ? null : Number(quantity(nonce)),
    gas: gas === null ? null : quantity(gas),
    // Enough for one of the next blocks, even if the base fee rises a little.
    maxFeePerGas: (base * 12n + 9n) / 10n + priority,
    maxPriorityFeePerGas: priority,
  }
}

type Ask = (method: string, params: unknown[]) => Promise<unknown>

/** Null when the node reports that it cannot. */
async function unlessRefused(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (answerOf(error) === '') throw error
    return null
  }
}

function aboveBase(price: bigint, base: bigint): bigint {
  return price > base ? price - base : 0n
}

function objectionTo(
  { asset, payTo, amount, ticker, decimals }: PayableLeg,
  payer: string,
  { coins, assetBalance }: Balances,
  { gas, fee, coin }: { gas: bigint | null; fee: bigint; coin: { ticker: string; decimals: number } },
): string | null {
  if (payTo.toLowerCase() === payer.toLowerCase()) return OWN_PAYMENT
  const needsOfCoin = fee + (asset === NATIVE_ASSETS.evm ? amount : 0n)
  const missing =
    shortage(ticker, decimals, amount, assetBalance) ?? shortage(coin.ticker, coin.decimals, needsOfCoin, coins)
  if (missing) return missing
  return gas === null || gas > MAX_GAS ? 'cannot make this payment: the chain would reject it' : null
}

/** Why a node rejects a transaction; null when it accepts it, or has it already. */
async function refusalOf(rpc: EvmRpc, raw: string, signal: AbortSignal): Promise<string | null> {
  try {
    await rpc('eth_sendRawTransaction', [raw], signal)
    return null
  } catch (error) {
    const words = answerOf(error)
    if (words === '') throw error
    return /already (known|imported)/i.test(words) ? null : words
  }
}

/** Maps the node's message to our own: a node may quote anything, and each kind of node has other messages. */
function describeRefusal(words: string, coin: string): string {
  if (/insufficient funds|enough funds|balance/i.test(words)) return `the payer has too little ${coin}`
  if (/nonce/i.test(words)) return 'its nonce is already used or too high'
  if (/fee|gas|price/i.test(words)) return 'its gas limit or fee is not what the chain requires now'
  return 'the chain rejects it'
}

/** The answers are of one machine and moment. A missing receipt is requested once more after the nonce is final. */
async function outcomeAt(
  ask: JsonRpcBatch,
  tx: string,
  payer: string,
  { nonce, block }: Life,
  signal: AbortSignal,
): Promise<TransactionOutcome> {
  const [final, finalNonce, receipt, signingBlock] = await ask(
    [
      ['eth_getBlockByNumber', ['finalized', false]],
      ['eth_getTransactionCount', [payer, 'finalized']],
      ['eth_getTransactionReceipt', [tx]],
      ['eth_getBlockByNumber', [numberToHex(BigInt(block)), false]],
    ],
    signal,
  )
  if (receipt !== null) {
    const { failed, blockNumber } = readReceipt(tx, required(receipt))
    if (!failed) return 'landed'
    return blockNumber <= quantity(record(required(final)).number) ? 'failed' : 'pending'
  }
  // A node that has pruned the block of the signing may also lack the block that contains the payment.
  const hasSigningBlock = signingBlock !== null && !(signingBlock instanceof RpcError)
  if (quantity(required(finalNonce)) <= BigInt(nonce) || !hasSigningBlock) return 'pending'
  const [again] = await ask([['eth_getTransactionReceipt', [tx]]], signal)
  return required(again) === null ? 'expired' : 'pending'
}

function required(result: unknown): unknown {
  if (result instanceof RpcError) throw result
  return result
}
