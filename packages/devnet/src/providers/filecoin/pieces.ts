// The provider's pieces, as files in a folder, and their uploads.

import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { commitmentOf } from './commitment.ts'

interface StoredPiece {
  path: string
  size: number
}

interface Upload extends StoredPiece {
  /** Null until all bytes have arrived. */
  cid: string | null
}

export interface Pieces {
  find(cid: string): StoredPiece | null
  /** Whether it can be added to a data set. Becomes true after a few calls. */
  isReady(cid: string): boolean
  begin(): string
  /** False when there is no such upload. */
  receive(upload: string, bytes: Readable): Promise<boolean>
  /** Null when there is no such upload, false when its bytes are missing or different. */
  finish(upload: string, cid: string): boolean | null
  place(cid: string, bytes: Uint8Array): Promise<void>
  read(piece: StoredPiece, start: number, end: number): Readable
  /** Content ids of every upload that arrived completely. */
  readonly received: readonly string[]
}

const CHUNKS = { highWaterMark: 256 * 1024 }

/** Computes the content id of the received bytes, or trusts the client, which is faster. */
export async function openPieces(folder: string, looksToPark: number, isTrusting: boolean): Promise<Pieces> {
  await mkdir(folder, { recursive: true })
  const pieces = new Map<string, StoredPiece & { looks: number }>()
  const uploads = new Map<string, Upload>()
  const received: string[] = []
  return {
    find: (cid) => pieces.get(cid) ?? null,
    isReady(cid) {
      const piece = pieces.get(cid)
      return piece !== undefined && piece.looks-- <= 0
    },
    begin() {
      const id = randomUUID()
      uploads.set(id, { path: join(folder, id), size: 0, cid: null })
      return id
    },
    async receive(id, bytes) {
      const upload = uploads.get(id)
      if (!upload) return false
      const file = createWriteStream(upload.path)
      try {
        await pipeline(bytes, file)
      } catch (error) {
        await rm(upload.path, { force: true })
        throw error
      }
      upload.size = file.bytesWritten
      upload.cid = isTrusting ? '' : commitmentOf(await readFile(upload.path))
      received.push(upload.cid)
      return true
    },
    finish(id, cid) {
      const upload = uploads.get(id)
      if (!upload) return null
      if (upload.cid !== cid && upload.cid !== '') return false
      uploads.delete(id)
      if (!pieces.has(cid)) pieces.set(cid, { path: upload.path, size: upload.size, looks: looksToPark })
      return true
    },
    async place(cid, bytes) {
      const path = join(folder, randomUUID())
      await writeFile(path, bytes)
      pieces.set(cid, { path, size: bytes.length, looks: 0 })
    },
    read: ({ path }, start, end) => createReadStream(path, { start, end, ...CHUNKS }),
    received,
  }
}
