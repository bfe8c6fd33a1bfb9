import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import type { EvmNode } from './evm-node.ts'
import { chainIdOf } from './evm-transaction.ts'
import type { SignedPayment } from './wallet.ts'

/** The outcome of a payment. All calls are in one batch, so the answers describe one moment. */
export async function evmOutcome(
  node: EvmNode,
  owner: string,
  { tx, raw, life }: SignedPayment,
): Promise<TransactionOutcome> {
  const [chainId, final, finalNonce, receipt, signingBlock] = await Promise.all([
    node.chainId(),
    node.block('finalized'),
    node.nonce(owner, 'finalized'),
    node.receipt(tx),
    // A node that has pruned this block may also lack the block with the payment.
    node.block(BigInt(life.block as string)).catch(() => null),
  ])
  if (chainId !== chainIdOf(raw)) throw new Error('the node is on another chain than the payment')
  if (receipt?.isSuccess) return 'landed'
  if (!final) throw new Error('the node has no final block')
  if (receipt) return receipt.blockNumber <= final.number ? 'failed' : 'pending'
  if (finalNonce <= Number(life.nonce) || !signingBlock) return 'pending'
  // A final block has used the nonce, so another transaction took it, unless this one has just landed.
  return (await node.receipt(tx)) ? 'pending' : 'expired'
}
