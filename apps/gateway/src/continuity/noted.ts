import type { JournalPendingTable } from '../db/schema.ts'

/** The name of a document. */
export type Noted = JournalPendingTable

/** Records the names of the documents that a commit's work writes. */
export type Note = (...noted: Noted[]) => void
