import { type Address, address, type Signature } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { coinOf } from '@svc/api/assets'
import { NATIVE_ASSETS, type SolanaNetwork } from '@svc/api/networks'
import { fromBase58 } from '@svc/protocol/bytes'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { ChainUnavailable, NodeProblem } from '../nodes/node-pool.ts'
import { agreedOutcome, OWN_PAYMENT, type PayableLeg, type PayerNode, shortage } from '../payer-node.ts'
import { createSolanaBalanceReader } from './balance-reader.ts'
import { connectSolana, createSolanaNodes, type SolanaRpc } from './nodes.ts'
import { inspectSolanaPayment } from './signed-payment.ts'

/** Until when a transaction can land. */
interface Life {
  lastValidBlockHeight: string
  /** The last valid height of the blockhash, or one shortly after it. */
  slot: string
}

export interface SolanaPayerNode extends PayerNode<Life> {
  /**
   * Transactions that name this address and did not fail: the newest ones, in order from the oldest; only those after
   * `after`, if given. With a quorum, so many nodes must list each of them. Throws `ChainUnavailable`.
   */
  transactionsNaming(address: string, after?: string | null): Promise<string[]>
}

/** The fee of a transaction with one signature. */
const FEE_LAMPORTS = 5_000n
/** Anyone can name an address, for the fee of a transaction. */
const NAMING_PAGE = 1000
const MAX_NAMING_PAGES = 10

export function createSolanaPayerNode(network: SolanaNetwork, rpcUrls: readonly string[], quorum = 1): SolanaPayerNode {
  const { ticker, decimals } = coinOf(network)
  const coin = { ticker, decimals }
  const nodes = createSolanaNodes(network, rpcUrls)
  const pool = connectSolana(network, rpcUrls)
  const balanceReader = createSolanaBalanceReader(network, rpcUrls)

  async function balancesOf({ asset }: PayableLeg, payer: string) {
    const isCoin = asset === NATIVE_ASSETS.solana
    const account = isCoin ? payer : await tokenAccount(payer, asset)
    const [coins, assetBalance] = await balanceReader.read([
      { asset: NATIVE_ASSETS.solana, payTo: payer },
      { asset, payTo: account },
    ])
    if (coins == null || assetBalance == null)
      throw new ChainUnavailable('no node of the primary chain reports a balance')
    return { account, coins, assetBalance }
  }

  return {
    isAddress: (text) => fromBase58(text, 32) !== null,

    async facts(leg, payer) {
      const [life, balances] = await Promise.all([nodes.lifetime(), payer === null ? null : balancesOf(leg, payer)])
      return {
        fee: { amount: String(FEE_LAMPORTS), ...coin },
        balances: balances ? { asset: String(balances.assetBalance), coin: String(balances.coins) } : null,
        objection: balances ? objectionTo(leg, balances, coin) : null,
        solana: {
          blockhash: life.blockhash,
          last_valid_block_height: String(life.lastValidBlockHeight),
          slot: String(life.slot),
        },
      }
    },

    inspect: async (transaction, legs) => inspectSolanaPayment(transaction, legs),

    async send({ tx, raw }) {
      const refusal = await nodes.simulate(raw, { sigVerify: true })
      if (refusal !== null && !(await isKnown(tx))) return describeRefusal(refusal, ticker)
      await nodes.send(raw)
      return null
    },

    async outcome({ tx, life }) {
      return agreedOutcome(await pool.all((rpc, signal) => outcomeAt(rpc, tx, life, signal)), quorum)
    },

    async transactionsNaming(named, after = null) {
      const ask = (rpc: SolanaRpc, signal: AbortSignal) => namingAt(rpc, named, after, signal)
      if (quorum === 1) return pool.first(ask, (found) => found.length > 0)
      const lists = await pool.all(ask)
      if (lists.length < quorum) throw new ChainUnavailable('too few nodes of the primary chain respond')
      const sets = lists.map((list) => new Set(list))
      const [longest = []] = lists.toSorted((a, b) => b.length - a.length)
      return longest.filter((tx) => sets.filter((set) => set.has(tx)).length >= quorum)
    },
  }

  /** Rejects a transaction that is on chain already, too. */
  async function isKnown(tx: string): Promise<boolean> {
    const [sightings = []] = await nodes.sightings([{ tx }])
    return sightings.some(({ status }) => status !== null)
  }
}

/** Nodes list the newest first, page by page. */
async function namingAt(
  rpc: SolanaRpc,
  named: string,
  after: string | null,
  abortSignal: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  let before: Signature | undefined
  for (let page = 0; page < MAX_NAMING_PAGES; page++) {
    const options = {
      commitment: 'confirmed',
      limit: NAMING_PAGE,
      ...(after !== null && { until: after as Signature }),
      ...(before && { before }),
    } as const
    const listed = await rpc.getSignaturesForAddress(named as Address, options).send({ abortSignal })
    for (const { signature, err } of listed) if (err === null) found.push(signature)
    before = listed.at(-1)?.signature
    if (listed.length < NAMING_PAGE) break
  }
  return found.reverse()
}

async function tokenAccount(owner: string, mint: string): Promise<string> {
  const seeds = { owner: address(owner), mint: address(mint), tokenProgram: TOKEN_PROGRAM_ADDRESS }
  return (await findAssociatedTokenPda(seeds))[0]
}

function objectionTo(
  { asset, payTo, amount, ticker, decimals }: PayableLeg,
  { account, coins, assetBalance }: { account: string; coins: bigint; assetBalance: bigint },
  coin: { ticker: string; decimals: number },
): string | null {
  if (payTo === account) return OWN_PAYMENT
  const needsOfCoin = FEE_LAMPORTS + (asset === NATIVE_ASSETS.solana ? amount : 0n)
  return shortage(ticker, decimals, amount, assetBalance) ?? shortage(coin.ticker, coin.decimals, needsOfCoin, coins)
}

async function outcomeAt(
  rpc: SolanaRpc,
  tx: string,
  life: Life,
  abortSignal: AbortSignal,
): Promise<TransactionOutcome> {
  const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment: 'finalized' }).send({ abortSignal })
  const { context, value } = await rpc
    .getSignatureStatuses([tx as Signature], { searchTransactionHistory: true })
    .send({ abortSignal })
  const [status] = value
  if (status === undefined) throw new NodeProblem('a response without the transaction')
  if (status?.err) return status.confirmationStatus === 'finalized' ? 'failed' : 'pending'
  if (status) return status.confirmationStatus === 'processed' ? 'pending' : 'landed'
  if (blockHeight <= BigInt(life.lastValidBlockHeight)) return 'pending'
  // One address may be several machines: neither a machine that lags nor one that has pruned the relevant blocks may
  // decide that a transaction is missing.
  const hasSeenAll = context.slot >= absoluteSlot && (await hasBlock(rpc, BigInt(life.slot), abortSignal))
  return hasSeenAll ? 'expired' : 'pending'
}

function hasBlock(rpc: SolanaRpc, slot: bigint, abortSignal: AbortSignal): Promise<boolean> {
  return rpc
    .getBlockTime(slot)
    .send({ abortSignal })
    .then(
      () => true,
      () => false,
    )
}

const FROZEN = '{"Custom":17}'

/** Why the chain rejects a payer's transaction. The node's error is JSON. */
export function describeRefusal(error: string, coin: string): string {
  if (error === '"BlockhashNotFound"') return 'its blockhash has expired or is not known yet'
  if (error === '"AccountNotFound"' || error.startsWith('{"InsufficientFundsFor'))
    return `the payer has too little ${coin}`
  if (error.includes(FROZEN)) return 'the issuer of the token has frozen the account of the payer or the recipient'
  return `the chain would reject it: ${error.slice(0, 200)}`
}
