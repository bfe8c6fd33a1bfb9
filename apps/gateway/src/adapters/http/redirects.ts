// Redirects clients to a provider that transfers bytes itself (SHORT-09). Each function returns null when the bytes
// must pass through the gateway.

import { toHex } from '@svc/protocol/bytes'
import { Bytes } from '@svc/service/http/answer'
import type { Redirect } from '@svc/storage/provider'
import { type Context, unixNow } from '../../context.ts'
import { type CurrentBytes, currentBytes } from '../../files/direct-uploads.ts'
import { fileNotFound, storageError } from '../../files/errors.ts'
import { insertDirectUpload, insertObject } from '../../files/object-store.ts'
import { maxObjectBytes } from '../../files/objects.ts'
import { countedBytes, lockFile } from '../../files/store.ts'
import { mintedRow } from '../../lockers/access.ts'
import { FIRST_CHECK_SECONDS, pendingUploads, refusalOf } from '../../lockers/quota.ts'
import { lockLocker } from '../../lockers/store.ts'
import { TOKEN_HEADERS } from './file-headers.ts'
import type { OpenedFile } from './open-token.ts'

/**
 * The sweep checks each pending upload repeatedly, so beyond this many the client must upload through the gateway
 * (T-56).
 */
const MAX_PENDING = 1000

/** A provider's address cannot be revoked, so it lives only long enough to follow the redirect. */
const MAX_REDIRECT_SECONDS = 300

export async function redirectDownload(
  { providers }: Context,
  { locker, expiresIn }: OpenedFile,
  { file, key }: CurrentBytes,
): Promise<Bytes | null> {
  const contentType = file.content_type
  const download = { contentType, expiresInSeconds: Math.min(expiresIn, MAX_REDIRECT_SECONDS) }
  const target = await requestTarget(providers.named(locker.provider).downloadTarget(key, download))
  return target && redirectTo(target, contentType)
}

export async function redirectUpload(
  context: Context,
  opened: OpenedFile,
  /** The size that the client announces. */
  size: number | null,
): Promise<Bytes | null> {
  const { locker, file, expiresIn, grant } = opened
  const contentType = file.upload_content_type
  // A size that is unknown in advance is counted as the bytes pass through the gateway.
  if (size === null && context.config.lockers.enforcesTerms) return null
  const id = toHex(context.randomBytes(16))
  const upload = {
    contentType,
    expiresInSeconds: Math.min(expiresIn, MAX_REDIRECT_SECONDS),
    size,
    // Upload URLs of releases up to 1.0.0 do not carry the headers that a limit requires.
    maxBytes: grant && maxObjectBytes(context, locker.provider),
  }
  const target = await requestTarget(context.providers.named(locker.provider).uploadTarget(id, upload))
  if (!target) return null
  // Each redirect inserts rows and queries the provider for the earlier ones.
  await context.rateLimiter.take({ key: `redirects ${locker.locker_id}`, perMinute: context.config.limits.perSigner })
  // Adopt an earlier direct upload that has arrived, so that it no longer counts as pending.
  await currentBytes(context, locker, file)
  return (await insertPendingUpload(context, opened, id, size)) ? redirectTo(target, contentType) : null
}

/**
 * Written before the client gets the address, because the object may exist from then on. False when the locker's quota
 * does not cover all pending uploads (T-56), or when too many are pending.
 */
function insertPendingUpload(
  context: Context,
  { locker: { provider }, file: { locker_id, filename, ...file }, grant }: OpenedFile,
  object_id: string,
  size: number | null,
): Promise<boolean> {
  const since = unixNow(context)
  return context.database.commit(async (tx) => {
    const current = await lockFile(tx, locker_id, filename)
    if (!current) throw fileNotFound(filename)
    const locker = await lockLocker(tx, locker_id)
    if ((await pendingUploads(tx, locker_id, since)).uploads >= MAX_PENDING) return false
    const without = { ...locker, total_bytes: locker.total_bytes - countedBytes(current) }
    if (await refusalOf(context, tx, without, { pending: size ?? 0, trash: 0 })) return false
    await insertObject(tx, { object_id, provider, state: 'writing', since, locker_id: null })
    await insertDirectUpload(tx, {
      object_id,
      locker_id,
      filename,
      content_type: file.upload_content_type,
      expected_hash: file.upload_expected_hash,
      ...mintedRow(grant),
      promised_bytes: size,
      look_at: since + FIRST_CHECK_SECONDS,
    })
    return true
  })
}

async function requestTarget(target: Promise<Redirect | null>): Promise<Redirect | null> {
  try {
    return await target
  } catch (error) {
    throw storageError(error)
  }
}

/** 307 keeps the method and the body. The client must repeat the content type (SHORT-09). */
function redirectTo({ url }: Redirect, contentType: string): Bytes {
  const headers = { ...TOKEN_HEADERS, location: url, 'content-type': contentType, 'content-length': '0' }
  return new Bytes(307, headers, null)
}
