// Where a provider takes and serves bytes itself, the client is redirected to it (SHORT-09). Each function answers null
// where the bytes go through the gateway.

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
import { awaitedUploads, FIRST_LOOK_SECONDS, refusalOf } from '../../lockers/quota.ts'
import { lockLocker } from '../../lockers/store.ts'
import { TOKEN_HEADERS } from './file-headers.ts'
import type { OpenedFile } from './open-token.ts'

/** Each is looked for again and again; who begins more of them than arrive sends bytes through the gateway (T-56). */
const MAX_AWAITED = 1000

/** A provider's address cannot be recalled, so it works only as long as it takes to follow the redirect. */
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
  /** As the client announces it. */
  size: number | null,
): Promise<Bytes | null> {
  const { locker, file, expiresIn, grant } = opened
  const contentType = file.upload_content_type
  // Through the gateway they are counted as they come.
  if (size === null && context.config.lockers.enforcesTerms) return null
  const id = toHex(context.randomBytes(16))
  const upload = {
    contentType,
    expiresInSeconds: Math.min(expiresIn, MAX_REDIRECT_SECONDS),
    size,
    // Clients of releases up to 1.0.0 were not told what to send for a limit.
    maxBytes: grant && maxObjectBytes(context, locker.provider),
  }
  const target = await requestTarget(context.providers.named(locker.provider).uploadTarget(id, upload))
  if (!target) return null
  // Each makes rows, and asks the provider for those before it.
  await context.rateLimiter.take({ key: `redirects ${locker.locker_id}`, perMinute: context.config.limits.perSigner })
  // An earlier direct upload may have arrived: then it is no longer one of those that are looked for.
  await currentBytes(context, locker, file)
  return (await insertPendingUpload(context, opened, id, size)) ? redirectTo(target, contentType) : null
}

/**
 * Written before the client gets the address: from then on the object may exist. False where the locker has no room for
 * all that is promised to it (T-56), or awaits too many.
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
    if ((await awaitedUploads(tx, locker_id, since)).uploads >= MAX_AWAITED) return false
    const without = { ...locker, total_bytes: locker.total_bytes - countedBytes(current) }
    if (await refusalOf(context, tx, without, { awaited: size ?? 0, trash: 0 })) return false
    await insertObject(tx, { object_id, provider, state: 'writing', since, locker_id: null })
    await insertDirectUpload(tx, {
      object_id,
      locker_id,
      filename,
      content_type: file.upload_content_type,
      expected_hash: file.upload_expected_hash,
      ...mintedRow(grant),
      promised_bytes: size,
      look_at: since + FIRST_LOOK_SECONDS,
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
