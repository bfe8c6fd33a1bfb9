import { type Outcome, watchOutcome } from '../transactions.ts'
import type { Sighting, SolanaNodes, Target } from './nodes.ts'
import type { SignedTransaction } from './sign-transaction.ts'

export type SolanaOutcome = Outcome<{ slot: number; commitment: 'confirmed' | 'finalized' }, { error: string }>

/** The outcome of each transaction; one query covers all. */
export async function outcomesOf(
  nodes: Pick<SolanaNodes, 'sightings' | 'quorum'>,
  sent: readonly (Target & Pick<SignedTransaction, 'last_valid_height'>)[],
): Promise<SolanaOutcome[]> {
  if (sent.length === 0) return []
  const sightings = await nodes.sightings(sent)
  return sent.map((_, i) => outcomeFrom(sightings[i] ?? [], nodes.quorum))
}

/** Asks until the outcome is known or the time is up, and sends the transaction again from time to time. */
export function watchTransaction(
  nodes: Pick<SolanaNodes, 'sightings' | 'quorum' | 'send'>,
  sent: SignedTransaction,
  timeoutMs: number,
): Promise<SolanaOutcome> {
  return watchOutcome<SolanaOutcome>({
    ask: async () => (await outcomesOf(nodes, [sent]))[0] ?? { outcome: 'pending' },
    resend: () => nodes.send(sent.raw),
    timeoutMs,
  })
}

type Status = NonNullable<Sighting['status']>

/**
 * A quorum of nodes is enough to show that the transaction exists, with the finality that as many report. To conclude
 * that it never will, all nodes that answer, at least a quorum, must agree, each by its own blocks.
 */
export function outcomeFrom(sightings: readonly Sighting[], quorum = 1): SolanaOutcome {
  const statuses = sightings.flatMap(({ status }) => status ?? [])
  const sides = [statuses.filter(({ error }) => error === null), statuses.filter(({ error }) => error !== null)]
  const [agreed] = sides.flatMap((side) => side.toSorted(byWeight)[quorum - 1] ?? []).toSorted(byWeight)
  if (agreed) {
    const { slot, commitment, error } = agreed
    return error === null ? { outcome: 'landed', slot, commitment } : { outcome: 'failed', error }
  }
  const isExpired = sightings.length >= quorum && sightings.every(({ isPast }) => isPast) && statuses.length === 0
  return { outcome: isExpired ? 'expired' : 'pending' }
}

function byWeight(a: Status, b: Status): number {
  return weight(b) - weight(a)
}

/** When nodes contradict each other, the final status is right; and what may have landed is not sent again. */
function weight({ commitment, error }: Status): number {
  if (commitment === 'finalized') return 2
  return error === null ? 1 : 0
}
