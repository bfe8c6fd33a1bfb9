import { type Address, type Hex, type PublicClient, TransactionReceiptNotFoundError } from 'viem'
import type { Fate, SignedPayment } from './wallet.ts'

/** What became of a payment; the node is asked in one batch, so that its answers are of one moment. */
export async function evmFate(node: PublicClient, owner: Address, { tx, life }: SignedPayment): Promise<Fate> {
  const findReceipt = () => node.getTransactionReceipt({ hash: tx as Hex }).catch(nullIfNotFound)
  const [final, finalNonce, receipt, signingBlock] = await Promise.all([
    node.getBlock({ blockTag: 'finalized' }),
    node.getTransactionCount({ address: owner, blockTag: 'finalized' }),
    findReceipt(),
    // Nodes forget: one that has no block of that time cannot say what was in those after it.
    node.getBlock({ blockNumber: BigInt(life.block as string) }).catch(() => null),
  ])
  if (receipt?.status === 'success') return 'landed'
  if (receipt) return receipt.blockNumber <= final.number ? 'failed' : 'unknown'
  if (finalNonce <= Number(life.nonce) || !signingBlock) return 'unknown'
  // Its number is taken for good; if not by another transaction, then by itself in this very moment.
  return (await findReceipt()) ? 'unknown' : 'impossible'
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof TransactionReceiptNotFoundError) return null
  throw error
}
