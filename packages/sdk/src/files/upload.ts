import { BytesDiffer } from '../errors.ts'
import type { Locker } from '../lockers.ts'

export interface PutOptions {
  /** By default the source's type, or else `application/octet-stream`. */
  contentType?: string
  /** Called with the number of sent bytes and the total, which is null while unknown. */
  onProgress?: (done: number, total: number | null) => void
  /** Called before the first byte is sent if the gateway has kept some of an interrupted upload. */
  onResume?: (kept: number, total: number) => void
  /** False: fails with `NameTaken` where there is a file of this name by then, and replaces nothing (ADD-60). */
  overwrite?: boolean
  signal?: AbortSignal | undefined
}

/** A file as the gateway has recorded it and the client has checked it. */
export interface StoredFile {
  filename: string
  size_bytes: number
  content_hash: string
}

/** The outcome of one file. The failure of one does not stop the others. */
export type PutOutcome = { filename: string; stored: StoredFile } | { filename: string; error: unknown }

/** A small file in memory, with what the gateway should record of it. */
export interface ReadFile extends StoredFile {
  contentType: string
  bytes: Uint8Array
}

/** Bytes on their way into a file. */
export interface Upload {
  locker: Locker
  filename: string
  contentType: string
  /** With its prefix; null if the bytes can be read only once. */
  expectedHash: string | null
  options: PutOptions
}

/** The size of a part: smaller files gain nothing from parts. */
export const SMALL_FILE_BYTES = 8 * 1024 * 1024

/** Requires that the gateway recorded what was sent. */
export function requireSame(answer: StoredFile, { filename, size_bytes, content_hash }: StoredFile): void {
  if (answer.content_hash !== content_hash || answer.size_bytes !== size_bytes)
    throw new BytesDiffer(filename, content_hash, answer.content_hash)
}
