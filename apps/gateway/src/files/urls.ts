// Short URLs. Each allows one operation on one file until it expires or the key that requested it loses access.

import { setImmediate } from 'node:timers/promises'
import { providerCode } from '@svc/api/providers'
import { toHex } from '@svc/protocol/bytes'
import { mintToken, type TokenMethod } from '@svc/protocol/short-url'
import type { Signer } from '@svc/service/guard/signers'
import type { LockerCaller } from '../auth/callers.ts'
import { FROZEN_LINK_SECONDS, requireServed, requireWritable } from '../auth/restrictions.ts'
import { type Context, unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { fileEntry } from './lists/list-files.ts'
import type { ListedFile } from './lists/store.ts'
import { maxObjectBytes } from './objects.ts'

const DEFAULT_TTL_MINUTES = 30

export interface UrlMinter {
  /** Seconds. */
  expiresIn: number
  /** Headers that the provider requires for an upload. */
  uploadHeaders: Readonly<Record<string, string>>
  /** Whether the request was signed for writing. Otherwise its URLs must not exceed the caller's own permissions. */
  mayDelete: boolean
  url(method: TokenMethod, filename: string): string
}

/** How long the URLs that a caller requests may be valid. */
export function allowedMinutes(locker: Locker, { role }: Signer, asked: number): number {
  requireServed(locker)
  if (locker.restriction === null) return asked
  if (role !== 'owner') requireWritable(locker)
  return Math.min(asked, FROZEN_LINK_SECONDS / 60)
}

/** Creates URLs of one locker, for one caller, that all expire at the same time. */
export function urlMinter(
  context: Context,
  { locker, signer, envelope }: LockerCaller,
  ttlMinutes = DEFAULT_TTL_MINUTES,
): UrlMinter {
  const expiresIn = allowedMinutes(locker, signer, ttlMinutes) * 60
  const fields = {
    expires: unixNow(context) + expiresIn,
    lockerId: locker.locker_id,
    provider: providerCode(locker.provider),
    minted: { by: context.markKey(locker.locker_id, signer.identity), epoch: locker.access_epoch },
  }
  const uploadHeaders =
    context.providers.named(locker.provider).uploadHeaders?.(maxObjectBytes(context, locker.provider)) ?? {}
  return {
    expiresIn,
    uploadHeaders,
    mayDelete: envelope.ops.includes('locker:write'),
    url(method, filename) {
      const nonce = toHex(context.randomBytes(8))
      const token = mintToken({ ...fields, method, filename, nonce }, context.signers.shortUrl)
      return `${context.config.http.baseUrl}/f/${token}`
    },
  }
}

/**
 * URLs to upload, download and delete one file. A request signed for reading gets no `delete_url`; it does get an
 * `upload_url`, because reading the file is how clients replace an expired one (FILE-34).
 */
export function urlPair(minter: UrlMinter, filename: string, contentType: string) {
  return {
    filename,
    content_type: contentType,
    upload_url: minter.url('PUT', filename),
    upload_headers: { 'Content-Type': contentType, ...minter.uploadHeaders },
    download_url: minter.url('GET', filename),
    ...(minter.mayDelete && { delete_url: minter.url('DELETE', filename) }),
  }
}

export function downloadUrl(minter: UrlMinter, file: ListedFile) {
  const { filename, content_type, content_hash, size_bytes, uploaded_at, provider_ref = null } = fileEntry(file)
  const download_url = minter.url('GET', filename)
  return { filename, download_url, content_type, content_hash, size_bytes, uploaded_at, provider_ref }
}

/** Signing sixteen URLs takes a few milliseconds. */
const CHUNK_SIZE = 16

/** Maps a long list in chunks, and lets other requests run between chunks. */
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
