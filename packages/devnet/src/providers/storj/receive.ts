import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Exchange } from '../http/exchange.ts'
import { StoreError } from './store-error.ts'

export interface Received {
  path: string
  size: number
  etag: string
}

/** Writes the body of a request to a file; where it breaks off, or is not what was signed, nothing is left of it. */
export async function receive({ body, headers }: Exchange, path: string): Promise<Received> {
  const declared = headers['x-amz-content-sha256']?.toString() ?? ''
  if (headers['content-length'] === undefined) throw new StoreError(411, 'MissingContentLength')
  const hash = /^[0-9a-f]{64}$/.test(declared) ? createHash('sha256') : null
  const file = createWriteStream(path, { flags: 'wx' })
  try {
    if (hash) body.on('data', (chunk) => hash.update(chunk))
    await pipeline(body, file)
    if (hash && hash.digest('hex') !== declared) throw new StoreError(400, 'XAmzContentSHA256Mismatch')
    return { path, size: file.bytesWritten, etag: randomUUID() }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}
