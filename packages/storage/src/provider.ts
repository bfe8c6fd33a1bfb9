// Where bytes are kept. Objects are immutable and have random ids; names, types and owners are the gateway's business.

import type { Readable } from 'node:stream'

export interface ObjectKey {
  /** 32 lowercase hex characters, chosen by the gateway. */
  id: string
  /** What the provider calls it, where it insists: a transaction id, a content id. */
  ref: string | null
}

/** Both ends are in it, as in HTTP. */
export interface ByteRange {
  start: number
  end: number
}

/** Where a client itself sends or fetches the bytes, and the headers it must do it with. */
export interface Redirect {
  url: string
  headers: Readonly<Record<string, string>>
}

export interface StorageProvider {
  /** The largest object it takes; `Infinity` where it does not say. */
  readonly maxBytes: number
  /**
   * What a client must send with an upload, beside the type, to be taken by the provider itself: a redirect cannot tell
   * it. None where the bytes come through the gateway.
   */
  readonly uploadHeaders?: Readonly<Record<string, string>>
  /** Null: the bytes come through the gateway. */
  uploadTarget(id: string, upload: { contentType: string; expiresInSeconds: number }): Promise<Redirect | null>
  /** Null: the bytes go through the gateway. */
  downloadTarget(key: ObjectKey, download: { contentType: string; expiresInSeconds: number }): Promise<Redirect | null>
  /**
   * Keeps the bytes under the id: durable when it resolves, and not there at all when it rejects. An error of the
   * source is thrown as it came; trouble of the provider is a `ProviderError`. More or fewer bytes than declared are a
   * `RangeError`; an id that is taken is an error, and its object stays as it is.
   *
   * The source is not destroyed when the provider fails: it is left paused, so that a request can still be answered.
   */
  write(id: string, bytes: Readable, about: { contentType: string; size: number | null }): Promise<StoredObject>
  /**
   * Null when there is no such object. A range lies within the object. The stream holds a file or a connection until
   * it is read to its end or destroyed.
   */
  read(key: ObjectKey, range?: ByteRange): Promise<Readable | null>
  /** Null when there is no such object. */
  stat(key: ObjectKey): Promise<{ size: number } | null>
  /** Of these objects, the ids of those that are not there; they may be many, as a locker's are. */
  absent(keys: readonly ObjectKey[]): Promise<Set<string>>
  /** Also removes what an interrupted write left; an object that is not there counts as removed. */
  remove(key: ObjectKey): Promise<'removed' | 'immutable'>
  /** Whether it can take and give bytes now. */
  check(): Promise<boolean>
  /** Lets go of connections. */
  close?(): Promise<void>
}

export interface StoredObject {
  size: number
  ref: string | null
}

/** `closed`: it does not let us in, which is for the operator to mend. */
type ProviderTrouble = 'full' | 'unavailable' | 'closed'

/** Trouble of the provider: nothing the client did, and nothing of it is told (GEN-11). */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly reason: ProviderTrouble

  constructor(reason: ProviderTrouble, cause: unknown) {
    super(`the storage provider is ${reason}`, { cause })
    this.reason = reason
  }
}
