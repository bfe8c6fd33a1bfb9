import type { Source } from './source.ts'
import type { StoredFile } from './upload.ts'

export interface NamedSource {
  filename: string
  source: Source
  contentType: string | undefined
}

/** What became of one file; the failure of one is not that of the others. */
export type PutOutcome = { filename: string; stored: StoredFile } | { filename: string; error: unknown }
