import type { JournalPendingTable } from '../db/schema.ts'

/** The name of a document. */
export type Noted = JournalPendingTable

/** Given to a commit's work, for the names of what it writes. */
export type Note = (...noted: Noted[]) => void
