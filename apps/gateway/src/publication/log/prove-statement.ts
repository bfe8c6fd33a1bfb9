import { formatProof } from '@svc/protocol/transparency/proof'
import { proveInclusion } from '@svc/protocol/transparency/prove'
import type { Db } from '../../db/schema.ts'
import { chooseCheckpoint } from './choose-checkpoint.ts'
import type { PublishedLog } from './published.ts'
import { findEntry } from './store.ts'
import type { LoggedStatement } from './transparency-log.ts'

export async function proveStatement(
  { database: { db }, publishedLog }: { database: { db: Db }; publishedLog: PublishedLog },
  statementDigest: string,
): Promise<LoggedStatement | null> {
  const index = (await findEntry(db, statementDigest))?.entry_index ?? null
  const chosen = index === null ? null : await chooseCheckpoint(db, publishedLog, index)
  if (index === null || !chosen) return null
  const hashes = await proveInclusion(index, chosen.size, publishedLog.coveredTile)
  return { index, proof: formatProof(index, hashes, chosen.note), anchor: chosen.anchor }
}
