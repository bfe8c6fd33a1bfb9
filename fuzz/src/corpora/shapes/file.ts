import { fromHex } from '@svc/protocol/bytes'

export interface CorpusFile {
  path: string
  /** The name in reports. */
  name: string
  bytes: Uint8Array
  /** Whether there is a file at this path. */
  has(path: string): boolean
  unread(why: string): void
}

export type Fields = Record<string, unknown>

/** In upper or lower case. */
export function hex(text: unknown): Uint8Array | null {
  return typeof text === 'string' ? fromHex(text.toLowerCase()) : null
}
