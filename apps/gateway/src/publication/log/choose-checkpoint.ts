import type { LogAnchor } from '@svc/api/log'
import type { Db } from '../../db/schema.ts'
import { logAnchorOf } from './log-anchor.ts'
import type { PublishedLog } from './published.ts'
import { newestQuorum, oldestAnchored } from './store.ts'

export interface ChosenCheckpoint {
  size: number
  /** With all its signatures. */
  note: string
  anchor: LogAnchor | null
}

/**
 * The checkpoint that the entry is proven in: the oldest that is anchored, so that one checkpoint serves for all that a
 * verifier asks; else the newest that enough witnesses have cosigned; else the newest. Null while none has the entry.
 */
export async function chooseCheckpoint(
  db: Db,
  published: PublishedLog,
  index: number,
): Promise<ChosenCheckpoint | null> {
  const known = await published.checkpoint()
  const newest = known && known.size > index ? known : await published.newest()
  if (!newest || newest.size <= index) return null
  const range = { above: index, upTo: newest.size }
  const anchored = await oldestAnchored(db, range)
  if (anchored) return { size: anchored.size, note: noteOf(anchored), anchor: logAnchorOf(anchored) }
  const cosigned = await newestQuorum(db, range)
  if (cosigned) return { size: cosigned.size, note: noteOf(cosigned), anchor: null }
  return { size: newest.size, note: newest.text, anchor: null }
}

function noteOf({ note, lines }: { note: string; lines: string | null }): string {
  return note + (lines ?? '')
}
