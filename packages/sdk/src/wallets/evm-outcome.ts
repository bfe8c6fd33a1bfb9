import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import type { EvmNode } from './evm-node.ts'
import type { SignedPayment } from './wallet.ts'

/** What became of a payment; the node is asked in one batch, so that its answers are of one moment. */
export async function evmOutcome(
  node: EvmNode,
  owner: string,
  { tx, life }: SignedPayment,
): Promise<TransactionOutcome> {
  const [final, finalNonce, receipt, signingBlock] = await Promise.all([
    node.block('finalized'),
    node.nonce(owner, 'finalized'),
    node.receipt(tx),
    // Nodes forget: one that has no block of that time cannot say what was in those after it.
    node.block(BigInt(life.block as string)).catch(() => null),
  ])
  if (receipt?.isSuccess) return 'landed'
  if (!final) throw new Error('the node knows no final block')
  if (receipt) return receipt.blockNumber <= final.number ? 'failed' : 'pending'
  if (finalNonce <= Number(life.nonce) || !signingBlock) return 'pending'
  // Its number is taken for good; if not by another transaction, then by itself in this very moment.
  return (await node.receipt(tx)) ? 'pending' : 'expired'
}
