// Uploads in chunks: begun, filled in any order, and finalized into an item.

import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Exchange } from '../http/exchange.ts'
import { answerJson, type UploadService } from './items.ts'
import { verifyItem } from './verify-item.ts'

interface Upload {
  id: string
  path: string
  /** Fixed at the beginning; every chunk's offset is a multiple of it. */
  chunkSize: number
  /** Lengths by offset. */
  chunks: Map<number, number>
  status: 'ASSEMBLING' | 'FINALIZED' | 'INVALID' | 'UNDERFUNDED'
}

export interface Uploads {
  serve(exchange: Exchange, uploadId: string, last: string): Promise<void>
  count(): number
  /** Discards unfinished uploads, as the service does after a while. */
  discard(): void
}

const [MIN_CHUNK, MAX_CHUNK] = [5 * 1024 * 1024, 500 * 1024 * 1024]

export function createUploads(service: UploadService): Uploads {
  const uploads = new Map<string, Upload>()

  async function begin(exchange: Exchange): Promise<void> {
    const chunkSize = Number(exchange.url.searchParams.get('chunkSize'))
    if (!(chunkSize >= MIN_CHUNK && chunkSize <= MAX_CHUNK)) return exchange.answer(400, {}, 'Invalid chunk size')
    const upload: Upload = {
      id: randomUUID(),
      path: service.newPath(),
      chunkSize,
      chunks: new Map(),
      status: 'ASSEMBLING',
    }
    await writeFile(upload.path, '')
    uploads.set(upload.id, upload)
    answerJson(exchange, 200, { id: upload.id, min: MIN_CHUNK, max: MAX_CHUNK, chunkSize })
  }

  async function take(exchange: Exchange, { path, chunkSize, chunks }: Upload, offset: number): Promise<void> {
    const length = Number(exchange.headers['content-length'])
    if (!(length > 0 && length <= chunkSize && offset % chunkSize === 0)) {
      return exchange.answer(400, {}, 'Invalid chunk')
    }
    const file = createWriteStream(path, { flags: 'r+', start: offset })
    await pipeline(exchange.body, file)
    if (file.bytesWritten !== length) throw new Error('the chunk is incomplete')
    service.received(exchange)
    chunks.set(offset, length)
    exchange.answer(200)
  }

  /** Missing chunks read as zeros, so an incomplete upload is an invalid item. */
  async function finalize(exchange: Exchange, upload: Upload): Promise<void> {
    if (upload.status === 'ASSEMBLING') upload.status = await conclude(upload)
    exchange.answer(202)
  }

  async function conclude({ path }: Upload): Promise<Upload['status']> {
    const item = await verifyItem(path)
    if (!item) return 'INVALID'
    if (service.items.has(item.id)) return 'FINALIZED'
    if (!service.pay(item.size)) return 'UNDERFUNDED'
    service.items.keep(path, item)
    return 'FINALIZED'
  }

  return {
    async serve(exchange, uploadId, last) {
      const isGet = exchange.method === 'GET'
      if (uploadId === '-1') return begin(exchange)
      const upload = uploads.get(uploadId)
      const isOver = upload?.status !== 'ASSEMBLING' && last !== 'status' && last !== 'finalize'
      if (!upload || isOver) return exchange.answer(404, {}, 'Multi-part upload not found')
      if (isGet && last === 'status') return answerJson(exchange, 200, { status: upload.status, timestamp: 0 })
      if (isGet) return answerJson(exchange, 200, { id: uploadId, chunks: [...upload.chunks] })
      return last === 'finalize' ? finalize(exchange, upload) : take(exchange, upload, Number(last))
    },
    count: () => uploads.size,
    discard() {
      for (const { id, status } of uploads.values()) if (status === 'ASSEMBLING') uploads.delete(id)
    },
  }
}
