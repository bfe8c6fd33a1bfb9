import type { JournalPendingTable } from '../db/schema.ts'

/** The name of a document. */
export type DocumentId = JournalPendingTable

/** Records the names of the documents that a commit's work writes. */
export type RecordDocuments = (...ids: DocumentId[]) => void
