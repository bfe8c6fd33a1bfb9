import { createReadStream } from 'node:fs'
import { fileUrls } from '@svc/api/files'
import { withPrefix } from '@svc/protocol/bytes'
import { hashContent } from '@svc/protocol/sha256'
import type { Client, Locker } from '@svc/sdk'
import type { FoundFile } from '@svc/sdk/node'

export interface Stored {
  size_bytes: number | null
  content_hash: string | null
  /** Null if unknown: gateways up to 1.0.0 do not report it. */
  uploaded_at: string | null
}

const NAMES_AT_ONCE = 1000

/** The files that the gateway has stored under these names. */
export async function storedUnder(
  client: Client,
  { locker_id }: Locker,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Stored>> {
  const stored = new Map<string, Stored>()
  for (let start = 0; start < names.length; start += NAMES_AT_ONCE) {
    const filenames = names.slice(start, start + NAMES_AT_ONCE)
    const { body } = await client.call(fileUrls, { params: { locker_id }, body: { filenames }, signal })
    for (const { filename, size_bytes, content_hash, uploaded_at = null } of body.urls)
      stored.set(filename, { size_bytes, content_hash, uploaded_at })
  }
  return stored
}

/** Whether a file on disk equals the stored one. Reads it only if the sizes match. */
export async function isStored({ path, size }: FoundFile, stored: Stored | undefined): Promise<boolean> {
  if (!stored?.content_hash || stored.size_bytes !== size) return false
  return (await hashOfFile(path)) === stored.content_hash
}

/** The hash with its `sha256:` prefix. */
export async function hashOfFile(path: string): Promise<string | null> {
  const pieces = createReadStream(path, { highWaterMark: 1024 * 1024 })
  const content = await hashContent(pieces, Number.POSITIVE_INFINITY)
  return content && withPrefix(content.content_hash)
}
