import { BytesDiffer } from '../errors.ts'
import type { Locker } from '../lockers.ts'

export interface PutOptions {
  /** The default is the source's type, or else `application/octet-stream`. */
  contentType?: string
  /** Called with the number of sent bytes and the total, which is null while unknown. */
  onProgress?: (done: number, total: number | null) => void
  /** Called before the first byte is sent if the gateway has stored part of an interrupted upload. */
  onResume?: (kept: number, total: number) => void
  /** False: fails with `NameTaken` if a file with this name exists by then, and replaces nothing (ADD-60). */
  overwrite?: boolean
  signal?: AbortSignal | undefined
}

/** A file as recorded by the gateway and verified by the client. */
export interface StoredFile {
  filename: string
  size_bytes: number
  content_hash: string
}

/** The outcome of one file. The failure of one does not stop the others. */
export type PutOutcome = { filename: string; stored: StoredFile } | { filename: string; error: unknown }

/** A small file in memory, with the values that the gateway should record. */
export interface ReadFile extends StoredFile {
  contentType: string
  bytes: Uint8Array
}

/** An upload into a file. */
export interface Upload {
  locker: Locker
  filename: string
  contentType: string
  /** The hash with its prefix. Null if the bytes can be read only once. */
  expectedHash: string | null
  options: PutOptions
}

/** The size of a part: smaller files gain nothing from parts. */
export const SMALL_FILE_BYTES = 8 * 1024 * 1024

/** Requires that the gateway recorded the bytes that were sent. */
export function requireSame(answer: StoredFile, { filename, size_bytes, content_hash }: StoredFile): void {
  if (answer.content_hash !== content_hash || answer.size_bytes !== size_bytes)
    throw new BytesDiffer(filename, content_hash, answer.content_hash)
}
