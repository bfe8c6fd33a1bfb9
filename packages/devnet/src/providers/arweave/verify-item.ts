// Verifies data items (ANS-104). Shares no code with the storage driver that writes them.

import { createHash, createPublicKey, verify } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

interface ItemHeader {
  id: string
  signature: Buffer
  owner: Buffer
  anchor: Buffer
  tags: { name: string; value: string }[]
  /** Offsets of the encoded tags and of the data. */
  tagsStart: number
  dataStart: number
}

export interface VerifiedItem extends ItemHeader {
  /** Of the data. */
  size: number
}

const SIGNATURE_BYTES = 64
const OWNER_BYTES = 32
const MAX_TAG_BYTES = 4096
const MOST_HEADER_BYTES = 2 + SIGNATURE_BYTES + OWNER_BYTES + 33 + 33 + 16 + MAX_TAG_BYTES
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

/** Null when the file is not a data item with a valid signature. */
export async function verifyItem(path: string): Promise<VerifiedItem | null> {
  const start = await readStart(path)
  const header = parseHeader(start)
  if (!header) return null
  const data = createHash('sha384')
  let length = 0
  for await (const chunk of createReadStream(path, { start: header.dataStart, highWaterMark: 1024 * 1024 })) {
    data.update(chunk)
    length += chunk.length
  }
  const texts = ['dataitem', '1', '2'].map((text) => Buffer.from(text))
  const tags = start.subarray(header.tagsStart, header.dataStart)
  let sum = digest('list8')
  for (const part of [...texts, header.owner, Buffer.alloc(0), header.anchor, tags]) {
    sum = digest(sum, digest(digest(`blob${part.length}`), digest(part)))
  }
  sum = digest(sum, digest(digest(`blob${length}`), data.digest()))
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, header.owner]), format: 'der', type: 'spki' })
  return verify(null, sum, key, header.signature) ? { ...header, size: length } : null
}

async function readStart(path: string): Promise<Buffer> {
  await using file = await open(path)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_HEADER_BYTES), 0, MOST_HEADER_BYTES, 0)
  return buffer.subarray(0, bytesRead)
}

/** Reads only items that an Ed25519 key signed, without a target. */
function parseHeader(bytes: Buffer): ItemHeader | null {
  let at = 0
  const take = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  if (take(2).toString('hex') !== '0200') return null
  const [signature, owner] = [take(SIGNATURE_BYTES), take(OWNER_BYTES)]
  if (take(1)[0] !== 0) return null
  const anchor = take(1)[0] === 1 ? take(32) : Buffer.alloc(0)
  if (bytes.length < at + 16) return null
  const [count, tagBytes] = [Number(take(8).readBigUInt64LE()), Number(take(8).readBigUInt64LE())]
  const tagsStart = at
  if (tagBytes > MAX_TAG_BYTES || bytes.length < at + tagBytes) return null
  const tags = decodeTags(take(tagBytes))
  if (tags?.length !== count) return null
  const id = createHash('sha256').update(signature).digest('base64url')
  return { id, signature, owner, anchor, tags, tagsStart, dataStart: at }
}

function decodeTags(bytes: Buffer): ItemHeader['tags'] | null {
  if (bytes.length === 0) return []
  let at = 0
  const long = () => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) return Number.NaN
      value += (byte & 127) * factor
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
  }
  const text = () => {
    const length = long()
    at += length
    return bytes.toString('utf8', at - length, at)
  }
  const count = long()
  if (!(count > 0 && count <= 128)) return null
  const tags = Array.from({ length: count }, () => ({ name: text(), value: text() }))
  const isEnded = long() === 0
  const isSound = tags.every(({ name, value }) => name !== '' && value !== '')
  return isEnded && isSound && at === bytes.length ? tags : null
}

function digest(...parts: (string | Buffer)[]): Buffer {
  const hash = createHash('sha384')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
