import type { PublicationTable } from '../db/schema.ts'
import type { PublicationNodes, Sighting } from './publication-nodes.ts'

/** What became of a transaction that was, or may have been, sent. */
export type Fate =
  | { is: 'landed'; slot: number; commitment: 'confirmed' | 'finalized' }
  /** It is in a block and did nothing but cost its fee. */
  | { is: 'failed'; error: string }
  /** It is nowhere and can no longer come. */
  | { is: 'expired' }
  | { is: 'unknown' }

export type Lost = Extract<Fate, { is: 'failed' | 'expired' }>

type Sent = Pick<PublicationTable, 'tx' | 'last_valid_height'>

export async function fates(nodes: PublicationNodes, sent: readonly Sent[]): Promise<Fate[]> {
  if (sent.length === 0) return []
  const sightings = await nodes.sightings(sent.map(({ tx }) => tx))
  return sent.map(({ last_valid_height }, i) => fateOf(sightings[i] ?? [], last_valid_height))
}

/** That it is there, one node may say; that it never will be, all who answer, each by its own height. */
export function fateOf(sightings: readonly Sighting[], lastValidHeight: number): Fate {
  const statuses = sightings.flatMap(({ status }) => status ?? [])
  const [best] = statuses.toSorted((a, b) => weight(b) - weight(a))
  if (best) {
    const { slot, commitment, error } = best
    return error === null ? { is: 'landed', slot, commitment } : { is: 'failed', error }
  }
  const isPast = sightings.length > 0 && sightings.every(({ finalizedHeight }) => finalizedHeight > lastValidHeight)
  return { is: isPast ? 'expired' : 'unknown' }
}

/** Where nodes contradict each other, what is final is right; and what may be there is not sent again. */
function weight({ commitment, error }: NonNullable<Sighting['status']>): number {
  if (commitment === 'finalized') return 2
  return error === null ? 1 : 0
}
