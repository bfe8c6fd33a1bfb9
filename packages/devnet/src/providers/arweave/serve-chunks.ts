// Uploads in chunks: begun, filled in any order, asked about, and finalized into an item.

import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Exchange } from '../http/exchange.ts'
import { answerJson, type Desk } from './desk.ts'
import { verifyItem } from './verify-item.ts'

interface Upload {
  id: string
  path: string
  /** As told at the beginning; the offset of each chunk is a multiple of it. */
  chunkSize: number
  /** Their lengths by their offsets. */
  chunks: Map<number, number>
  status: 'ASSEMBLING' | 'FINALIZED' | 'INVALID' | 'UNDERFUNDED'
}

export interface Uploads {
  serve(exchange: Exchange, uploadId: string, last: string): Promise<void>
  count(): number
  /** Forgets all that have not come to their end, as the service does after a while. */
  forget(): void
}

const [MIN_CHUNK, MAX_CHUNK] = [5 * 1024 * 1024, 500 * 1024 * 1024]

export function createUploads(desk: Desk): Uploads {
  const uploads = new Map<string, Upload>()

  async function begin(exchange: Exchange): Promise<void> {
    const chunkSize = Number(exchange.url.searchParams.get('chunkSize'))
    if (!(chunkSize >= MIN_CHUNK && chunkSize <= MAX_CHUNK)) return exchange.answer(400, {}, 'Invalid chunk size')
    const upload: Upload = {
      id: randomUUID(),
      path: desk.newPath(),
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
    if (file.bytesWritten !== length) throw new Error('a chunk broke off')
    desk.received(exchange)
    chunks.set(offset, length)
    exchange.answer(200)
  }

  /** Parts of which there are too few make no item: holes read as zeros. */
  async function finalize(exchange: Exchange, upload: Upload): Promise<void> {
    if (upload.status === 'ASSEMBLING') upload.status = await conclude(upload)
    exchange.answer(202)
  }

  async function conclude({ path }: Upload): Promise<Upload['status']> {
    const item = await verifyItem(path)
    if (!item) return 'INVALID'
    if (desk.items.has(item.id)) return 'FINALIZED'
    if (!desk.mayPay(item.owner)) return 'UNDERFUNDED'
    desk.items.keep(path, item)
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
    forget() {
      for (const { id, status } of uploads.values()) if (status === 'ASSEMBLING') uploads.delete(id)
    },
  }
}
