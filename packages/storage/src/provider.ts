// The interface of a storage provider. Objects are immutable and have random ids; the gateway knows their names, types
// and owners.

import type { FileStream, OwnedChunks } from '@svc/service/http/byte-streams'

export interface ObjectKey {
  /** 32 lowercase hex characters, chosen by the gateway. */
  id: string
  /** The provider's own id for the object, if it has one: a transaction id, a content id. */
  ref: string | null
}

/** Both ends are inclusive, as in HTTP. */
export interface ByteRange {
  start: number
  end: number
}

/** An address where a client uploads or downloads the bytes directly, and the headers that it must send. */
export interface Redirect {
  url: string
  headers: Readonly<Record<string, string>>
}

/** The conditions of an upload address. A provider limits the size as well as it can. */
interface UploadTerms {
  contentType: string
  expiresInSeconds: number
  /** As the client announces it; null when it does not. */
  size: number | null
  /** Null when the client does not know the `uploadHeaders` that limit the size. */
  maxBytes: number | null
}

export interface ObjectFacts {
  size: number
  /**
   * Whether the uploading client declared its bytes compressed. Clients that are redirected to the provider would get
   * them decompressed, by the provider or by their browser (T-50).
   */
  isEncoded?: true
}

export interface StorageProvider {
  /** The largest object it accepts; `Infinity` when there is no limit. */
  readonly maxBytes: number
  /** The origin of the addresses to which clients are redirected; absent when all bytes go through the gateway. */
  readonly redirectsTo?: string
  /**
   * Headers that a client must send, besides the content type, when it uploads to the provider directly: a redirect
   * cannot carry them. None when the bytes go through the gateway. `maxBytes` is the same as for `uploadTarget`.
   */
  uploadHeaders?(maxBytes: number): Readonly<Record<string, string>>
  /** Null: the bytes go through the gateway. */
  uploadTarget(id: string, upload: UploadTerms): Promise<Redirect | null>
  /** Null: the bytes go through the gateway. */
  downloadTarget(key: ObjectKey, download: { contentType: string; expiresInSeconds: number }): Promise<Redirect | null>
  /**
   * Stores the bytes under the id: they are durable when it resolves, and absent when it rejects. An error of the
   * source is rethrown unchanged; a failure of the provider is a `ProviderError`. More or fewer bytes than declared are
   * a `RangeError`. A taken id is an error, and its object does not change.
   *
   * The source is not destroyed when the provider fails: it is left paused, so that a request can still be answered.
   */
  write(id: string, bytes: OwnedChunks, about: { contentType: string; size: number | null }): Promise<StoredObject>
  /** Objects that are written in parts, in any order and several at once. */
  readonly parts: ObjectParts
  /**
   * Null when there is no such object. A range is within the object. The stream holds a file or a connection until it
   * is read to its end or destroyed.
   */
  read(key: ObjectKey, range?: ByteRange): Promise<FileStream | null>
  /** Null when there is no such object. */
  stat(key: ObjectKey): Promise<ObjectFacts | null>
  /** The ids of the missing objects. There may be as many keys as a locker has files. */
  absent(keys: readonly ObjectKey[]): Promise<Set<string>>
  /**
   * Also removes what an interrupted write left, and the parts of an incomplete object. A missing object counts as
   * removed.
   */
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
 * Parts are written once, at their final position. They have the same length, except the last: a part that a provider
 * cannot place is answered with null, and the caller stores it as a separate object. `remove` ends an upload.
 */
export interface ObjectParts {
  /** Whether parts of this length are worthwhile. */
  accepts(partBytes: number): boolean
  /** Returns the state to store with the id. May be called again; then one of the answers must be used. */
  begin(id: string, about: { contentType: string; partBytes: number }): Promise<string>
  /**
   * Durable when it resolves; sources and errors are as for `write`. Null, without reading, when the slot of the part
   * is taken, or it fits in none. If an index can be written again, each write has its own ref.
   */
  write(upload: PartsUpload, part: NewPart, bytes: OwnedChunks): Promise<string | null>
  /** Removes an unwanted part by its ref. Absent when its slot can only be written once, or overwritten. */
  discard?(id: string, ref: string): Promise<void>
  /**
   * Creates the object from these parts, which are in order of their index. No part can be written afterwards. A
   * repeated call with the same parts returns the same result. Null when parts are lost.
   */
  complete(upload: PartsUpload, parts: readonly WrittenPart[]): Promise<CompletedParts | null>
}

export interface PartsUpload {
  id: string
  /** The result of `begin`. */
  ref: string
  contentType: string
}

export interface NewPart {
  index: number
  size: number
  /** Whether the part is known to be the last. */
  isLast: boolean
  /** The limit of the whole object: a part that would end beyond it has no slot. */
  maxBytes: number
}

export interface WrittenPart {
  index: number
  size: number
  /** The result of `write`. */
  ref: string
}

export interface CompletedParts extends StoredObject {
  /** False when there is anything besides the adjacent parts: it can then only be copied. */
  isExact: boolean
  /** The start of each part. */
  starts: number[]
}

export interface StoredObject {
  size: number
  ref: string | null
}

/**
 * `full`: there is no space left. `unavailable`: it failed, and may work again soon. `closed`: it denies us access, and
 * the admin must act. `signing-denied`: we have access, but may not sign addresses for clients (FILE-35).
 */
type ProviderErrorReason = 'full' | 'unavailable' | 'closed' | 'signing-denied'

/** The details by which drivers decide. */
interface ProviderErrorDetails {
  /** The same step may succeed when it is retried soon. */
  isRetryable?: boolean
  /** The provider did not answer in time. */
  isTimeout?: boolean
  /** The provider's answer: an HTTP or gRPC status, and its own error code. */
  answer?: { status: number; code?: string }
}

/** A failure of the provider, not of the client. The message does not reveal the cause (GEN-11); logs show it. */
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
