// A provider that takes minutes, or never gives back: bytes are kept by the gateway first, and moved on by a job.

import type { Readable } from 'node:stream'
import type { ByteRange } from './provider.ts'

export interface SettlingObject {
  /** 32 lowercase hex characters. */
  id: string
  size: number
  /** Hex. */
  sha256: string
  contentType: string
  /** The bytes, as often as they are needed. */
  open(range?: ByteRange): Promise<Readable>
  /** What an earlier run that was cut off has noted, null before the first note. */
  notes: unknown
  /**
   * Durable when it resolves: called before anything is sent, signed or paid for. Rejects when the object is not wanted
   * any more and nothing was noted yet, or when another run goes on with it: then nothing more is to be done.
   */
  note(notes: unknown): Promise<void>
  signal: AbortSignal
}

export interface SlowStore {
  /** The largest object it takes. */
  readonly maxBytes: number
  /**
   * Brings the bytes there, or goes on where an earlier run was cut off. Nothing is sent, signed or paid for twice that
   * is there or on its way. Resolves with what the provider calls the object, once it has it for good; rejects with a
   * `ProviderError` when it is to be tried again later.
   */
  settle(object: SettlingObject): Promise<{ ref: string }>
  /** Null when the provider does not have it, or not yet where it is read. A range lies within the object. */
  read(ref: string, range?: ByteRange): Promise<Readable | null>
  /** Null when the provider does not have it. */
  stat(ref: string): Promise<{ size: number } | null>
  /** Whether it can take and give bytes now. */
  check(): Promise<boolean>
}
