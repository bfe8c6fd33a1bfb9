import type { AnchorPayload } from '@svc/protocol/anchor'
import type { Db, PublicationTable } from '../db/schema.ts'
import { knownDigests, lostSequences } from './store.ts'

export interface NamedStatement {
  proofId: string
  sequence: number
  digest: string
}

/** The statements that the database lacks and whose loss the admin has not accepted. */
export async function unknownStatements<Named extends NamedStatement>(
  db: Db,
  statements: readonly Named[],
): Promise<Named[]> {
  const digests = await knownDigests(
    db,
    statements.map(({ digest }) => digest),
  )
  const unknown = statements.filter(({ digest }) => !digests.has(digest))
  const lost = await lostSequences(
    db,
    unknown.map(({ proofId }) => proofId),
  )
  return unknown.filter(({ proofId, sequence }) => sequence > (lost.get(proofId) ?? 0))
}

/** The statement that a transaction publishes. */
export function publishedStatement({ draft }: Pick<PublicationTable, 'draft'>): NamedStatement {
  const { pid, seq, dg } = (JSON.parse(draft) as { payload: AnchorPayload }).payload
  return { proofId: pid, sequence: seq, digest: dg }
}

export function byProof(a: NamedStatement, b: NamedStatement): number {
  return a.proofId === b.proofId ? a.sequence - b.sequence : a.proofId < b.proofId ? -1 : 1
}
