// Keeps the documents between starts. A large document has its own file, to save memory; everything else is in a journal of
// BSON documents, one per change. All of it is synchronous, so that nothing happens between finding a document and
// changing it.

import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Document, deserialize, ObjectId, serialize } from 'bson'

export type JournalEntry = { collection: string } & (
  | { put: Document; body: string | null }
  | { remove: unknown }
  | { index: Document }
  | { drop: true }
)

export interface Journal {
  append(entry: JournalEntry): void
  /** Returns the name for `readBody`. */
  keepBody(bytes: Uint8Array): string
  readBody(name: string): Buffer
  dropBody(name: string): void
  close(): void
}

export function openJournal(folder: string): { journal: Journal; entries: JournalEntry[] } {
  const bodies = join(folder, 'bodies')
  mkdirSync(bodies, { recursive: true })
  const file = join(folder, 'journal.bson')
  const entries = existsSync(file) ? readEntries(file) : []
  const descriptor = openSync(file, 'a')
  return {
    entries,
    journal: {
      append: (entry) => appendFileSync(descriptor, serialize(entry)),
      keepBody(bytes) {
        const name = new ObjectId().toHexString()
        writeFileSync(join(bodies, name), bytes)
        return name
      },
      readBody: (name) => readFileSync(join(bodies, name)),
      dropBody: (name) => rmSync(join(bodies, name), { force: true }),
      close: () => closeSync(descriptor),
    },
  }
}

/** Cuts off the incomplete entry that a killed process may have left. */
function readEntries(file: string): JournalEntry[] {
  const bytes = readFileSync(file)
  const entries: JournalEntry[] = []
  let at = 0
  while (at + 4 <= bytes.length && at + bytes.readInt32LE(at) <= bytes.length) {
    const entry = bytes.subarray(at, at + bytes.readInt32LE(at))
    entries.push(deserialize(entry) as JournalEntry) // written by `append` above
    at += entry.length
  }
  truncateSync(file, at)
  return entries
}
