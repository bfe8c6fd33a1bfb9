// An object as a data item (ANS-104): a header with an Ed25519 signature over everything, then the bytes.

import { createHash, hash } from 'node:crypto'
import { ed25519Signer } from '@svc/protocol/keys'
import { ProviderError } from '../provider.ts'
import type { StagedObject } from '../slow-store.ts'

export interface DataItem {
  /** Its permanent name: the hash of its signature. */
  id: string
  /** Everything before the object's bytes. */
  header: Buffer
  /** The length of header and bytes. */
  size: number
}

type ItemSource = Pick<StagedObject, 'id' | 'size' | 'sha256' | 'contentType' | 'open' | 'signal'>

type Tag = readonly [name: string, value: string]

const ED25519 = 2
const NO_TARGET = Buffer.alloc(0)
const [ABSENT, PRESENT] = [Buffer.from([0]), Buffer.from([1])]

/** Larger than any header: content types have at most 255 characters. */
export const MAX_HEADER_BYTES = 2048

/** Signing again gives the same item: signatures are deterministic, and the anchor follows from the id of the object. */
export async function signItem(object: ItemSource, seed: Uint8Array): Promise<DataItem> {
  const signer = ed25519Signer(seed)
  // The id itself stays private.
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

/** Tags may not have empty values. */
function tagsOf({ contentType }: ItemSource): Tag[] {
  return [
    ['Content-Type', contentType || 'application/octet-stream'],
    ['App-Name', 'svc-storage-gateway'],
  ]
}

/** Checks that the bytes are the confirmed ones: an item cannot be corrected later. */
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
  throw new ProviderError('unavailable', `the staged bytes of object ${id} are not the confirmed ones`)
}

interface HashedBlob {
  length: number
  /** SHA-384 of its bytes. */
  digest: Buffer
}

function hashBlob(bytes: Uint8Array): HashedBlob {
  return { length: bytes.length, digest: sha384(bytes) }
}

/** The message that is signed: a tree of SHA-384 hashes, here of a list of blobs. */
function deepHash(blobs: readonly HashedBlob[]): Buffer {
  return blobs.reduce(
    (sum, { length, digest }) => sha384(sum, sha384(sha384(Buffer.from(`blob${length}`)), digest)),
    sha384(Buffer.from(`list${blobs.length}`)),
  )
}

function sha384(...parts: Uint8Array[]): Buffer {
  return hash('sha384', Buffer.concat(parts), 'buffer')
}

/** An Avro array of records with two strings each. */
function encodeTags(tags: readonly Tag[]): Buffer {
  const texts = tags.flat().map((text) => Buffer.from(text))
  const records = texts.flatMap((text) => [encodeLong(text.length), text])
  return Buffer.concat([encodeLong(tags.length), ...records, encodeLong(0)])
}

/** Zigzag, which doubles a number that is not negative, in groups of seven bits, the lowest first. */
function encodeLong(value: number): Buffer {
  const bytes: number[] = []
  let rest = value * 2
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

function littleEndian(value: number, length: 2 | 8): Buffer {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntLE(value, 0, Math.min(length, 6))
  return bytes
}
