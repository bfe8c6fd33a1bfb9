import { ChainUnavailable } from '@svc/chains/node-pool'
import { createSolanaNodes } from '@svc/chains/solana/nodes'
import { PRIMARY } from '@svc/payments/networks'
import { equalBytes, fromBase58 } from '@svc/protocol/bytes'
import { type Refusal, Refused, type SettlerNodes } from './settler.ts'

/** The place of the owner in a token account. */
const OWNER = { offset: 32, length: 32 }

/** The fee payer cannot pay. A payer without tokens fails in the transfer instead. */
const UNFUNDED = /^"(?:InsufficientFundsForFee|AccountNotFound)"$|^\{"InsufficientFundsForRent":/

/** The questions and transactions of the Solana settler. Throws `Refused` when no node answers. */
export function createSolanaChain({ rpcUrls, quorum }: SettlerNodes) {
  const nodes = createSolanaNodes(PRIMARY, rpcUrls, { quorum })

  async function isOwner(account: string, owner: string): Promise<boolean> {
    const found = await nodes.account(account, OWNER)
    const key = fromBase58(owner, OWNER.length)
    return found !== null && key !== null && equalBytes(found.data, key)
  }

  async function objection(raw: string, source: { account: string; owner: string }): Promise<Refusal | null> {
    const error = await nodes.simulate(raw, { sigVerify: false })
    if (error !== null)
      return UNFUNDED.test(error) ? { why: 'unfunded' } : { why: 'invalid', reason: 'transaction_simulation_failed' }
    // A delegate may move the tokens of another owner; then it is unclear who buys (AMB-75).
    return (await isOwner(source.account, source.owner)) ? null : { why: 'invalid', reason: 'payer_unclear' }
  }

  return {
    /** Why a transaction must not be sent; null when it may be sent. */
    objection: (raw: string, source: { account: string; owner: string }) =>
      objection(raw, source).catch((error) => refusedBy(error).refusal),
    height: () => nodes.height('confirmed').catch(rejectAsRefused),
    finalizedHeight: () => nodes.height('finalized').catch(rejectAsRefused),
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
