import type { Address, Base64EncodedWireTransaction, createSolanaRpc } from '@solana/kit'
import { getAddressEncoder } from '@solana/kit'
import { type Refusal, Refused } from './settler.ts'

type Rpc = ReturnType<typeof createSolanaRpc>

const TIMEOUT_MS = 10_000
const CONFIRMED = { commitment: 'confirmed', encoding: 'base64' } as const

/** What settling asks of nodes: all at once, and the first good answer counts. */
export function createSvmNodes(rpcs: readonly Rpc[]) {
  async function first<T>(ask: (rpc: Rpc, abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await Promise.any(rpcs.map((rpc) => ask(rpc, AbortSignal.timeout(TIMEOUT_MS))))
    } catch {
      throw new Refused({ why: 'unavailable', problem: 'no node of the primary chain answers' })
    }
  }

  /** An error is an answer too, but one that another node may not share: it may be ahead of it. */
  async function simulationError(transaction: Base64EncodedWireTransaction): Promise<unknown> {
    const errors: unknown[] = []
    const simulate = async (rpc: Rpc, abortSignal: AbortSignal) => {
      const { value } = await rpc
        .simulateTransaction(transaction, { ...CONFIRMED, sigVerify: false })
        .send({ abortSignal })
      if (value.err === null) return null
      errors.push(value.err)
      throw new Error('it would fail')
    }
    return first(simulate).catch((error) => {
      if (errors.length === 0) throw error
      return errors[0]
    })
  }

  async function isOwner(account: Address, owner: Address): Promise<boolean> {
    const dataSlice = { offset: 32, length: 32 }
    const { value } = await first((rpc, abortSignal) =>
      rpc.getAccountInfo(account, { ...CONFIRMED, dataSlice }).send({ abortSignal }),
    )
    return (
      value !== null && Buffer.from(value.data[0], 'base64').equals(getAddressEncoder().encode(owner) as Uint8Array)
    )
  }

  return {
    /** Why a transaction must not be sent, null when nothing is against it. */
    async objection(
      transaction: Base64EncodedWireTransaction,
      source: { account: Address; owner: Address },
    ): Promise<Refusal | null> {
      try {
        const error = await simulationError(transaction)
        if (isAboutFees(error)) return { why: 'unfunded' }
        if (error !== null) return { why: 'invalid', reason: 'transaction_simulation_failed' }
        // A delegate may move the tokens of another; then nobody could say whose purchase it is (AMB-75).
        return (await isOwner(source.account, source.owner)) ? null : { why: 'invalid', reason: 'payer_unclear' }
      } catch (error) {
        if (error instanceof Refused) return error.refusal
        throw error
      }
    },
    async height(): Promise<number> {
      return Number(await first((rpc, abortSignal) => rpc.getBlockHeight(CONFIRMED).send({ abortSignal })))
    },
    async finalizedHeight(): Promise<number> {
      return Number(
        await first((rpc, abortSignal) => rpc.getBlockHeight({ commitment: 'finalized' }).send({ abortSignal })),
      )
    },
    /** Whether a node took it says little: only the chain tells what became of it. */
    async send(transaction: Base64EncodedWireTransaction): Promise<void> {
      const options = { encoding: 'base64', skipPreflight: true } as const
      await first((rpc, abortSignal) => rpc.sendTransaction(transaction, options).send({ abortSignal })).catch(() => {})
    },
  }
}

/** The fee payer has nothing, or not enough; a payer without tokens fails in the transfer instead. */
function isAboutFees(error: unknown): boolean {
  if (error === 'InsufficientFundsForFee' || error === 'AccountNotFound') return true
  return typeof error === 'object' && error !== null && 'InsufficientFundsForRent' in error
}
