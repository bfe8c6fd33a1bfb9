import { coinOf } from '@svc/api/assets'
import type { SolanaNetwork } from '@svc/api/networks'
import type { ChainNodes } from '@svc/payments/family'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { createSolanaNodes } from '@svc/payments/solana/nodes'
import { outcomesOf } from '@svc/payments/solana/outcome'
import { describeRefusal } from '@svc/payments/solana/payer-node'
import { equalBytes, fromBase58 } from '@svc/protocol/bytes'
import { type Refusal, Refused } from './settler.ts'

/** The owner of a token account, followed by its amount. */
const HOLDING = { offset: 32, length: 40 }
const OWNER_BYTES = 32

/** The fee payer cannot pay. A payer without tokens fails in the transfer instead. */
const UNFUNDED = /^"(?:InsufficientFundsForFee|AccountNotFound)"$|^\{"InsufficientFundsForRent":/

/** A payer who repeats a call has made few transactions since. */
const MAX_HISTORY = 100

/** A transaction is valid for 150 blocks after its blockhash. The limit is doubled for lagging nodes. */
const LIFE_BLOCKS = 300

const ALREADY_PROCESSED = '"AlreadyProcessed"'

/** The source of a payment: this amount from the owner's token account. */
export interface Source {
  account: string
  owner: string
  amount: bigint
}

/** The queries and transactions of the Solana settler. Throws `Refused` when no node responds. */
export function createSolanaChain(network: SolanaNetwork, { rpcUrls, quorum }: ChainNodes) {
  const nodes = createSolanaNodes(network, rpcUrls, { quorum })

  async function holdingOf(account: string): Promise<{ owner: Uint8Array; amount: bigint } | null> {
    const found = await nodes.account(account, HOLDING)
    if (found?.data.length !== HOLDING.length) return null
    const view = new DataView(found.data.buffer, found.data.byteOffset)
    return { owner: found.data.subarray(0, OWNER_BYTES), amount: view.getBigUint64(OWNER_BYTES, true) }
  }

  async function objection(raw: string, { account, owner, amount }: Source): Promise<Refusal | null> {
    const error = await nodes.simulate(raw, { sigVerify: false })
    if (error !== null && UNFUNDED.test(error)) return { why: 'unfunded' }
    if (error === ALREADY_PROCESSED) return { why: 'used', reason: 'duplicate_settlement' }
    const holding = await holdingOf(account)
    if (error !== null) {
      const available = holding?.amount ?? null
      if (available === null || available < amount) return { why: 'insufficient_funds', payer: owner, available }
      const problem = describeRefusal(error, coinOf(network).ticker)
      return { why: 'invalid', reason: 'transaction_simulation_failed', problem }
    }
    // The simulating node is ahead of the nodes that responded now.
    if (holding === null) return { why: 'unavailable', problem: 'the paying account is not visible yet' }
    const key = fromBase58(owner, OWNER_BYTES)
    // A delegate may move the tokens of another owner, which leaves the buyer unclear (AMB-75).
    if (key === null || !equalBytes(holding.owner, key)) return { why: 'invalid', reason: 'payer_unclear' }
    return null
  }

  /**
   * Whether a node has the transaction in a block, without an error. Its absence counts only with a quorum of nodes.
   */
  async function isOnChain(tx: string): Promise<boolean> {
    const sightings = (await nodes.sightings([{ tx }]))[0] ?? []
    if (sightings.some(({ status }) => status?.error === null)) return true
    if (sightings.length > rpcUrls.length - quorum) return false
    throw new ChainUnavailable('too few nodes of the primary chain respond')
  }

  /** The most recent successful transactions of an account. */
  async function withMemo(account: string, wanted: string): Promise<string[]> {
    const found = await nodes.history(account, { limit: MAX_HISTORY })
    return found.filter(({ memo, hasFailed }) => !hasFailed && memo?.includes(wanted)).map(({ tx }) => tx)
  }

  return {
    withMemo: (account: string, wanted: string) => withMemo(account, wanted).catch(rejectAsRefused),
    isOnChain: (tx: string) => isOnChain(tx).catch(rejectAsRefused),
    /** The reason why a transaction must not be sent; null when it may be sent. */
    objection: (raw: string, source: Source) => objection(raw, source).catch((error) => refusedBy(error).refusal),
    height: () => nodes.height().catch(rejectAsRefused),
    /** Whether a transaction that was sent at a height is not on the chain and never will be. */
    async hasExpired(tx: string, height: number): Promise<boolean> {
      const sent = { tx, first_height: height, last_valid_height: height + LIFE_BLOCKS }
      return (await outcomesOf(nodes, [sent]))[0]?.outcome === 'expired'
    },
    send: nodes.send,
  }
}

function rejectAsRefused(error: unknown): never {
  throw refusedBy(error)
}

function refusedBy(error: unknown): Refused {
  if (error instanceof ChainUnavailable) return new Refused({ why: 'unavailable', problem: error.message })
  throw error
}
