// An object as a data item (ANS-104): a header with an Ed25519 signature over all, and the bytes.

import { createHash, hash } from 'node:crypto'
import { ed25519Signer } from '@svc/protocol/keys'
import { ProviderError } from '../provider.ts'
import type { SettlingObject } from '../slow-store.ts'
import { deepHash, hashBlob } from './deep-hash.ts'
import { encodeTags, type Tag } from './tags.ts'

export interface DataItem {
  /** What it is called for good: the hash of its signature. */
  id: string
  /** All that stands before the bytes of the object. */
  header: Buffer
  /** Of header and bytes. */
  size: number
}

type ItemSource = Pick<SettlingObject, 'id' | 'size' | 'sha256' | 'contentType' | 'open' | 'signal'>

const ED25519 = 2
const NO_TARGET = Buffer.alloc(0)
const [ABSENT, PRESENT] = [Buffer.from([0]), Buffer.from([1])]

/** More than any header has: types have 255 characters at most. */
export const MAX_HEADER_BYTES = 2048

/** Signed again it is the very same item: signatures are deterministic, and the anchor follows from the object's id. */
export async function signItem(object: ItemSource, seed: Uint8Array): Promise<DataItem> {
  const signer = ed25519Signer(seed)
  // The id itself is nobody's business.
  const anchor = hash('sha256', object.id, 'buffer')
  const tags = tagsOf(object)
  const encodedTags = encodeTags(tags)
  const words = ['dataitem', '1', `${ED25519}`].map((word) => Buffer.from(word))
  const blobs = [...words, signer.publicKey, NO_TARGET, anchor, encodedTags].map(hashBlob)
  const signature = signer.sign(deepHash([...blobs, { length: object.size, digest: await hashBytes(object) }]))
  const owner = [signature, signer.publicKey]
  const counts = [littleEndian(tags.length, 8), littleEndian(encodedTags.length, 8)]
  const parts = [littleEndian(ED25519, 2), ...owner, ABSENT, PRESENT, anchor, ...counts, encodedTags]
  const header = Buffer.concat(parts)
  return { id: hash('sha256', signature, 'base64url'), header, size: header.length + object.size }
}

/** Empty values are not allowed in tags. */
function tagsOf({ contentType }: ItemSource): Tag[] {
  return [
    ['Content-Type', contentType || 'application/octet-stream'],
    ['App-Name', 'svc-storage-gateway'],
  ]
}

/** Bytes that are not those which were confirmed would be wrong for good. */
async function hashBytes({ id, size, sha256, open, signal }: ItemSource): Promise<Buffer> {
  const [forItem, forObject] = [createHash('sha384'), createHash('sha256')]
  let length = 0
  for await (const chunk of await open()) {
    signal.throwIfAborted()
    forItem.update(chunk)
    forObject.update(chunk)
    length += chunk.length
  }
  if (length === size && forObject.digest('hex') === sha256) return forItem.digest()
  throw new ProviderError('unavailable', new Error(`object ${id} is staged with other bytes than were confirmed`))
}

function littleEndian(value: number, length: 2 | 8): Buffer {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntLE(value, 0, Math.min(length, 6))
  return bytes
}
