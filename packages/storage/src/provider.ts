// The interface of a storage provider. Objects are immutable and have random ids; the gateway knows their names, types
// and owners.

import type { FileStream, OwnedChunks } from '@svc/service/http/byte-streams'

export interface ObjectKey {
  /** 32 lowercase hex characters, chosen by the gateway. */
  id: string
  /** The provider's own name for it, where it has one: a transaction id, a content id. */
  ref: string | null
}

/** Both ends are inclusive, as in HTTP. */
export interface ByteRange {
  start: number
  end: number
}

/** An address at which a client itself uploads or downloads the bytes, and the headers it must send. */
export interface Redirect {
  url: string
  headers: Readonly<Record<string, string>>
}

/** What the address of an upload allows. A provider limits the size as well as it can. */
interface UploadTerms {
  contentType: string
  expiresInSeconds: number
  /** As the client announces it; null when it does not. */
  size: number | null
  /** Null when the client does not know of `uploadHeaders` that limit the size. */
  maxBytes: number | null
}

export interface ObjectFacts {
  size: number
  /**
   * Whether the client that uploaded it called its bytes compressed. Those who are sent to the provider would get them
   * decompressed, by it or by their browser (T-50).
   */
  isEncoded?: true
}

export interface StorageProvider {
  /** The largest object it accepts; `Infinity` when there is no limit. */
  readonly maxBytes: number
  /** The origin of the addresses that clients are sent to; absent where all bytes go through the gateway. */
  readonly redirectsTo?: string
  /**
   * Headers that a client must send, beside the content type, when it uploads to the provider itself: a redirect cannot
   * carry them. None when the bytes come through the gateway. `maxBytes` is the same as for `uploadTarget`.
   */
  uploadHeaders?(maxBytes: number): Readonly<Record<string, string>>
  /** Null: the bytes come through the gateway. */
  uploadTarget(id: string, upload: UploadTerms): Promise<Redirect | null>
  /** Null: the bytes go through the gateway. */
  downloadTarget(key: ObjectKey, download: { contentType: string; expiresInSeconds: number }): Promise<Redirect | null>
  /**
   * Stores the bytes under the id: they are durable when it resolves, and absent when it rejects. An error of the source
   * is rethrown unchanged; a failure of the provider is a `ProviderError`. More or fewer bytes than declared are a
   * `RangeError`. An id that is taken is an error, and its object does not change.
   *
   * The source is not destroyed when the provider fails: it is left paused, so that a request can still be answered.
   */
  write(id: string, bytes: OwnedChunks, about: { contentType: string; size: number | null }): Promise<StoredObject>
  /** Objects whose bytes come in parts, in any order and several at a time. */
  readonly parts: ObjectParts
  /**
   * Null when there is no such object. A range lies within the object. The stream holds a file or a connection until
   * it is read to its end or destroyed.
   */
  read(key: ObjectKey, range?: ByteRange): Promise<FileStream | null>
  /** Null when there is no such object. */
  stat(key: ObjectKey): Promise<ObjectFacts | null>
  /** The ids of those objects that are missing. There may be as many keys as a locker has files. */
  absent(keys: readonly ObjectKey[]): Promise<Set<string>>
  /** Also removes what an interrupted write left, and parts of an object that is not complete. An object that is missing counts as removed. */
  remove(key: ObjectKey): Promise<'removed' | 'immutable'>
  /** Whether it can store and return bytes now. */
  check(): Promise<boolean>
  /** Closes connections. */
  close?(): Promise<void>
}

/** A provider that holds connections. */
export interface ClosableProvider extends StorageProvider {
  close(): Promise<void>
}

/**
 * Parts are written once, where they stay. They have the same length, except for the last: whatever a provider cannot
 * place is answered with null, and the caller stores it as an object of its own. `remove` ends an upload.
 */
export interface ObjectParts {
  /** Whether it is worth beginning with parts of this length. */
  accepts(partBytes: number): boolean
  /** Returns what has to be remembered with the id. May be called again; one of the answers is to be used then. */
  begin(id: string, about: { contentType: string; partBytes: number }): Promise<string>
  /**
   * Durable when it resolves; sources and errors are as for `write`. Null, with nothing read, when the place of the part
   * is taken, or it fits in none. Where an index can be written again, each write has a ref of its own.
   */
  write(upload: PartsUpload, part: NewPart, bytes: OwnedChunks): Promise<string | null>
  /** Removes a part that is not wanted, by its ref. Absent where its place can only be written once, or written over. */
  discard?(id: string, ref: string): Promise<void>
  /**
   * Makes the object of these parts, which are in order of their index. No part can be written afterwards. Called again
   * with the same parts, it answers the same. Null when parts are lost.
   */
  complete(upload: PartsUpload, parts: readonly WrittenPart[]): Promise<CompletedParts | null>
}

export interface PartsUpload {
  id: string
  /** As answered by `begin`. */
  ref: string
  contentType: string
}

export interface NewPart {
  index: number
  size: number
  /** Whether it is known that no part follows. */
  isLast: boolean
  /** Of the whole object: a part that would end beyond has no place. */
  maxBytes: number
}

export interface WrittenPart {
  index: number
  size: number
  /** As answered by `write`. */
  ref: string
}

export interface CompletedParts extends StoredObject {
  /** False when there is anything but the parts, one after the other: it can only be copied from then. */
  isExact: boolean
  /** Where each part begins. */
  starts: number[]
}

export interface StoredObject {
  size: number
  ref: string | null
}

/**
 * `full`: there is no room for more. `unavailable`: it failed, and may be back soon. `closed`: it does not let us in, and
 * the operator has to act. `signing-denied`: we may use it, but may not sign addresses for clients (FILE-35).
 */
type ProviderErrorReason = 'full' | 'unavailable' | 'closed' | 'signing-denied'

/** What drivers decide by. */
interface ProviderErrorDetails {
  /** The same step may succeed when it is tried again soon. */
  isRetryable?: boolean
  /** The provider did not answer in time. */
  isTimeout?: boolean
  /** What the provider answered: an HTTP or gRPC status, and the provider's own code for the error. */
  answer?: { status: number; code?: string }
}

/** A failure of the provider, not of the client. The message says nothing about the cause (GEN-11); logs show it. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly reason: ProviderErrorReason
  readonly isRetryable: boolean
  readonly isTimeout: boolean
  readonly answer: ProviderErrorDetails['answer']

  constructor(reason: ProviderErrorReason, cause: unknown, details: ProviderErrorDetails = {}) {
    super(`the storage provider is ${reason === 'signing-denied' ? 'closed' : reason}`, {
      cause: typeof cause === 'string' ? new Error(cause) : cause,
    })
    this.reason = reason
    this.isRetryable = details.isRetryable ?? false
    this.isTimeout = details.isTimeout ?? false
    this.answer = details.answer
  }
}

/** For health checks, whose reason does not matter. */
export function succeeds(step: Promise<unknown>): Promise<boolean> {
  return step.then(
    () => true,
    () => false,
  )
}
