import { fromHex } from '@svc/protocol/bytes'

export interface CorpusFile {
  path: string
  /** As reports show it. */
  name: string
  bytes: Uint8Array
  /** Whether there is a file at this path. */
  has(path: string): boolean
  unread(why: string): void
}

export type Fields = Record<string, unknown>

/** In either case. */
export function hex(text: unknown): Uint8Array | null {
  return typeof text === 'string' ? fromHex(text.toLowerCase()) : null
}
