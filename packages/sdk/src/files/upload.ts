import { BytesDiffer } from '../errors.ts'
import type { Locker } from '../lockers.ts'

export interface PutOptions {
  /** The source's own, else `application/octet-stream`. */
  contentType?: string
  /** How many bytes are there, and of how many; the total is null where it is not known yet. */
  onProgress?: (done: number, total: number | null) => void
  signal?: AbortSignal | undefined
}

/** What the gateway has recorded, and the client has found to be right. */
export interface StoredFile {
  filename: string
  size_bytes: number
  content_hash: string
}

/** Bytes on their way into a file. */
export interface Upload {
  locker: Locker
  filename: string
  contentType: string
  /** With its prefix; null where the bytes can be read only once. */
  expectedHash: string | null
  options: PutOptions
}

/** As large as a part: below, parts would save nothing. */
export const SMALL_FILE_BYTES = 8 * 1024 * 1024

/** What was recorded is what was sent. */
export function requireSame(answer: StoredFile, { filename, size_bytes, content_hash }: StoredFile): void {
  if (answer.content_hash !== content_hash || answer.size_bytes !== size_bytes)
    throw new BytesDiffer(filename, content_hash, answer.content_hash)
}
