import type { LogAnchor } from '@svc/api/log'
import type { PublishedLog } from './published.ts'

export interface ChosenCheckpoint {
  size: number
  /** With all its signatures. */
  note: string
  anchor: LogAnchor | null
}

/** The checkpoint that the entry is proven in: the newest that is published; null while none has it. */
export async function chooseCheckpoint(published: PublishedLog, index: number): Promise<ChosenCheckpoint | null> {
  const known = await published.checkpoint()
  const newest = known && known.size > index ? known : await published.newest()
  return newest && newest.size > index ? { size: newest.size, note: newest.text, anchor: null } : null
}
