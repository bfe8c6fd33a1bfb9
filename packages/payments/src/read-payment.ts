import { type NodePool, problemsIn, type Question } from '@svc/chains/node-pool'
import type { ChainReading } from './payment.ts'

/** Asks all nodes at once and takes the first that has the transaction. */
export async function readPayment<Client>(
  pool: NodePool<Client>,
  read: Question<Client, ChainReading>,
): Promise<ChainReading> {
  const result = await pool.race(read, ({ outcome }) => outcome !== 'not_found')
  if ('answer' in result) return result.answer
  // "Not found" only when every node says so: the one that failed may have been the one that has the transaction, and
  // callers let a quote expire over a transaction that is not there.
  const { replies } = result
  const isNotFound = replies.length > 0 && replies.every((reply) => 'answer' in reply)
  return isNotFound ? { outcome: 'not_found' } : { outcome: 'unavailable', problem: problemsIn(replies) }
}
