// A provider that takes minutes, or cannot remove objects: the gateway stores the bytes first, and a job moves them on.

import type { Readable } from 'node:stream'
import type { ByteRange } from './provider.ts'

export interface StagedObject {
  /** 32 lowercase hex characters. */
  id: string
  size: number
  /** Hex. */
  sha256: string
  contentType: string
  /** Opens the bytes, as often as they are needed. */
  open(range?: ByteRange): Promise<Readable>
  /** The recorded progress of an earlier, interrupted run; null before the first record. */
  progress: unknown
  /**
   * Records the progress; durable when it resolves. Call it before anything is sent, signed or paid for. Rejects when
   * the object is no longer wanted and nothing was stored yet, or when another run continues it: then the run must
   * stop.
   */
  saveProgress(progress: unknown): Promise<void>
  signal: AbortSignal
}

export interface SlowStore {
  /** The largest object it accepts. */
  readonly maxBytes: number
  /**
   * Delivers the bytes to the provider, or continues an interrupted run. Sends, signs and pays for nothing twice.
   * Resolves with the provider's id of the object once it is stored permanently; rejects with a `ProviderError` when it
   * must be retried later.
   */
  deliver(object: StagedObject): Promise<{ ref: string }>
  /** Null when the provider does not have it, or cannot return it yet. A range is within the object. */
  read(ref: string, range?: ByteRange): Promise<Readable | null>
  /** Null when the provider does not have it. */
  stat(ref: string): Promise<{ size: number } | null>
  /** Whether it can store and return bytes now. */
  check(): Promise<boolean>
}
