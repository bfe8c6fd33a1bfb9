// The only way from bytes to a file. Bytes are written to a new object, hashed meanwhile if the file is to be confirmed
// immediately, and then placed. Until then they are invisible, and rejected bytes are removed.

import type { Readable } from 'node:stream'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'
import { AccessEnded } from '../lockers/access.ts'
import { requireQuota } from '../lockers/quota.ts'
import { findCurrent } from './direct-uploads.ts'
import { hashStream } from './hash-stream.ts'
import { type NewObject, removeObject, writeObject } from './objects.ts'
import { type Conditions, placeObject, type StoredBytes } from './place-object.ts'

/** Bytes that are not stored yet. */
export interface Source {
  /** Called only after all checks: a client may wait for 100 Continue before it sends the bytes. */
  open(): Readable | Promise<Readable>
  /** Null when unknown before the last byte. */
  size: number | null
  /** `now`: hash while writing. `later`: hash on confirmation. `known`: the reader of the bytes has verified it. */
  hash: 'now' | 'later' | { known: string }
  /** Throws unless these are the expected bytes. */
  accept?: (contentHash: string) => void
}

/** Throws `AccessEnded` when the grant has ended. */
export async function storeBytes(
  context: Context,
  locker: Locker,
  source: Source,
  conditions: Conditions,
): Promise<FileRow> {
  const { filename, check } = conditions
  const { provider } = locker
  let object: NewObject | null = null
  let isRefused = false
  try {
    check?.(await findCurrent(context, locker, filename))
    await requireQuota(context, locker, { named: [{ filename, bytes: source.size ?? 0 }], trash: 0 })
    const written = await write(context, provider, source, conditions.contentType)
    object = written.object
    isRefused = true
    if (written.contentHash !== undefined) source.accept?.(written.contentHash)
    isRefused = false
    return await placeObject(context, locker, {
      ...conditions,
      ...written,
      check(before) {
        isRefused = true
        check?.(before)
        isRefused = false
      },
    })
  } catch (error) {
    // After any other error the transaction may have committed: the sweep decides about the object.
    const isOurs = isRefused || error instanceof ServiceError || error instanceof AccessEnded
    if (object && isOurs) await removeObject(context, provider, object.id, object.ref)
    throw error
  }
}

async function write(
  context: Context,
  provider: string,
  { open, size, hash }: Source,
  contentType: string,
): Promise<StoredBytes> {
  const bytes = await open()
  const about = { contentType, size }
  if (hash !== 'now') {
    const object = await writeObject(context, provider, bytes, about)
    return { object, ...(hash !== 'later' && { contentHash: hash.known }) }
  }
  const hashed = hashStream(context.hashThread, bytes, size)
  try {
    const object = await writeObject(context, provider, hashed.bytes, about)
    return { object, contentHash: await hashed.hash() }
  } finally {
    hashed.close()
  }
}
