// Short URLs. Each allows one operation on one file until it expires.

import { setImmediate } from 'node:timers/promises'
import { toHex } from '@svc/protocol/bytes'
import { mintToken, type TokenMethod } from '@svc/protocol/short-url'
import { providerCode } from '@svc/storage/open-providers'
import { type Context, unixNow } from '../context.ts'
import type { FileRow, Locker } from '../db/schema.ts'

const DEFAULT_TTL_MINUTES = 30

export interface UrlMinter {
  /** Seconds. */
  expiresIn: number
  /** Headers that the provider requires of an upload. */
  uploadHeaders: Readonly<Record<string, string>>
  url(method: TokenMethod, filename: string): string
}

/** Mints URLs of one locker that all expire at the same time. */
export function urlMinter(context: Context, locker: Locker, ttlMinutes = DEFAULT_TTL_MINUTES): UrlMinter {
  const expiresIn = ttlMinutes * 60
  const fields = {
    expires: unixNow(context) + expiresIn,
    lockerId: locker.locker_id,
    provider: providerCode(locker.provider),
  }
  const { uploadHeaders = {} } = context.providers.named(locker.provider)
  return {
    expiresIn,
    uploadHeaders,
    url(method, filename) {
      const nonce = toHex(context.randomBytes(8))
      const token = mintToken({ ...fields, method, filename, nonce }, context.signers.shortUrl)
      return `${context.config.http.baseUrl}/f/${token}`
    },
  }
}

/** The URLs to upload, download and delete one file. */
export function urlPair(minter: UrlMinter, filename: string, contentType: string) {
  return {
    filename,
    content_type: contentType,
    upload_url: minter.url('PUT', filename),
    upload_headers: { 'Content-Type': contentType, ...minter.uploadHeaders },
    download_url: minter.url('GET', filename),
    delete_url: minter.url('DELETE', filename),
  }
}

export function downloadUrl(minter: UrlMinter, file: FileRow) {
  return {
    filename: file.filename,
    download_url: minter.url('GET', file.filename),
    content_type: file.content_type,
    content_hash: file.content_hash,
    size_bytes: file.size_bytes,
  }
}

/** Signing sixteen URLs takes a few milliseconds. */
const CHUNK_SIZE = 16

/** Maps a long list, and lets other requests run after each chunk. */
export async function mapInChunks<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % CHUNK_SIZE === 0) await setImmediate()
    results.push(map(item))
  }
  return results
}
