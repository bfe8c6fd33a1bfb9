// Multipart uploads: begun, filled part by part, and completed or aborted.

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { type ReceivedFile, Refusal } from '../http/exchange.ts'
import type { Objects } from './objects.ts'

/** For every part but the last. */
const MIN_PART_BYTES = 5 * 1024 * 1024

export interface Upload {
  id: string
  key: string
  headers: Record<string, string>
  parts: Map<number, ReceivedFile>
}

/** A part as the request that completes an upload names it. */
interface NamedPart {
  number: number
  etag: string
}

export interface Uploads {
  begin(key: string, headers: Record<string, string>): string
  find(key: string, id: string): Upload
  list(): Upload[]
  keepPart(upload: Upload, number: number, part: ReceivedFile): Promise<void>
  /** Returns the object's tag. */
  complete(upload: Upload, parts: readonly NamedPart[], mustBeNew: boolean): Promise<string>
  abort(upload: Upload): Promise<void>
}

export function createUploads(objects: Objects): Uploads {
  const uploads = new Map<string, Upload>()

  async function discard(upload: Upload): Promise<void> {
    uploads.delete(upload.id)
    for (const { path } of upload.parts.values()) await rm(path, { force: true })
  }

  return {
    begin(key, headers) {
      const id = `2~${randomUUID()}+/&=`
      uploads.set(id, { id, key, headers, parts: new Map() })
      return id
    },
    find(key, id) {
      const upload = uploads.get(id)
      if (upload?.key !== key) throw new Refusal(404, 'NoSuchUpload')
      return upload
    },
    list: () => [...uploads.values()],
    async keepPart(upload, number, part) {
      const before = upload.parts.get(number)
      // The upload may have been aborted while the part arrived.
      if (!uploads.has(upload.id)) {
        await rm(part.path)
        throw new Refusal(404, 'NoSuchUpload')
      }
      upload.parts.set(number, part)
      if (before) await rm(before.path)
    },
    async complete(upload, named, mustBeNew) {
      const parts = named.map(({ number, etag }, i) => {
        if (i > 0 && number <= named[i - 1]!.number) throw new Refusal(400, 'InvalidPartOrder')
        const part = upload.parts.get(number)
        if (part?.etag !== etag) throw new Refusal(400, 'InvalidPart')
        if (part.size < MIN_PART_BYTES && i < named.length - 1) throw new Refusal(400, 'EntityTooSmall')
        return part
      })
      if (parts.length === 0) throw new Refusal(400, 'MalformedXML')
      const etag = `${randomUUID()}-${parts.length}`
      await objects.keep({ key: upload.key, etag, headers: upload.headers, files: parts }, mustBeNew)
      await discard(upload)
      return etag
    },
    abort: discard,
  }
}
