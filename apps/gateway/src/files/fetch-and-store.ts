import type { Body } from '@svc/api/endpoint'
import type * as files from '@svc/api/files'
import { filenameProblem } from '@svc/protocol/filename'
import { SourceError } from '@svc/service/outgoing/public-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import type { FileRow } from '../db/schema.ts'
import { AccessEnded, grantTo } from '../lockers/access.ts'
import { requireSameLocker } from '../lockers/locker-record.ts'
import { requireQuota } from '../lockers/quota.ts'
import { keyRemoved, namesTaken, uploadError } from './errors.ts'
import { DEFAULT_MEDIA_TYPE, mediaTypeProblem } from './media-type.ts'
import { nameFiles } from './name-files.ts'
import { maxObjectBytes } from './objects.ts'
import { storeBytes } from './store-bytes.ts'
import { urlMinter } from './urls.ts'

type Request = Body<typeof files.fetchAndStore>

/**
 * Stores the content of a public https URL. The bytes are hashed as they arrive, so the file is confirmed immediately.
 * The download ends when the caller disconnects.
 */
export async function fetchAndStore(
  context: Context,
  caller: LockerCaller,
  request: Request,
  disconnected: AbortSignal,
): Promise<files.FetchedFile> {
  const { locker, signer } = caller
  requireSameLocker(locker, request)
  const filename = nameOf(context, request)
  await limitSigner(context, signer)
  await requireQuota(context, locker, { named: [{ filename, bytes: 0 }], trash: 0 })
  const file = await withFetchSlot(context, caller, () =>
    fetchFile(context, caller, { ...request, filename }, disconnected),
  )
  const minter = urlMinter(context, caller)
  return {
    ok: true,
    locker_id: locker.locker_id,
    receipt_id: locker.receipt_id,
    filename,
    size_bytes: file.size_bytes!,
    content_hash: file.content_hash!,
    content_type: file.content_type,
    source_url: request.source_url,
    stored_at: file.uploaded_at!,
    download_url: minter.url('GET', filename),
    urls_expire_in_sec: minter.expiresIn,
  }
}

/** A source controls how long its fetch takes, so concurrent fetches are limited per caller and in total. */
async function withFetchSlot<T>(context: Context, { locker, signer }: LockerCaller, fetch: () => Promise<T>) {
  const { maxPerSigner, maxTotal } = context.config.storage.fetch
  const own = { max: maxPerSigner }
  const release = context.acquireFetchSlots(
    { key: 'all', max: maxTotal },
    { key: `signer ${signer.identity}`, ...own },
    { key: `owner ${locker.owner}`, ...own },
  )
  if (!release) throw tooManyFetches(`too many fetches are in progress; the limit for an owner is ${maxPerSigner}`)
  try {
    return await fetch()
  } finally {
    release()
  }
}

function tooManyFetches(message: string): ServiceError {
  const hint = `wait for the fetches in progress, then try again in ${RETRY_SECONDS} s`
  return new ServiceError('RATE_LIMITED', message, {
    hint,
    headers: { 'retry-after': `${RETRY_SECONDS}` },
    details: {
      layer: 'gateway',
      recovery_hint: hint,
      next_best_method: 'POST /v1/lockers/{locker_id}/files',
      retry_after_seconds: RETRY_SECONDS,
    },
  })
}

const RETRY_SECONDS = 2

/** The requested name, or the last segment of the URL if it is a valid name, or a generated one. */
function nameOf(context: Context, { filename, content_type, source_url }: Request): string {
  const name = filename ?? lastSegment(source_url, context.config.storage.systemPrefix)
  const file = { ...(name !== null && { filename: name }), ...(content_type !== undefined && { content_type }) }
  return nameFiles(context, [file], () => ['body'])[0]!.filename
}

function lastSegment(url: string, systemPrefix: string): string | null {
  const segment = decoded(URL.parse(url)?.pathname.split('/').at(-1) ?? '')
  return segment.includes('/') || filenameProblem(segment, systemPrefix) !== null ? null : segment
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

async function fetchFile(
  context: Context,
  { locker, signer }: LockerCaller,
  { source_url, content_type, filename, overwrite = true }: Request & { filename: string },
  disconnected: AbortSignal,
): Promise<FileRow> {
  const maxBytes = Math.min(context.config.storage.fetch.maxBytes, maxObjectBytes(context, locker.provider))
  try {
    const { stream, size, contentType } = await context.fetchSource(source_url, maxBytes, disconnected)
    const source = { open: () => stream, size, hash: 'now' } as const
    return await storeBytes(context, locker, source, {
      filename,
      contentType: content_type ?? mediaTypeOf(contentType),
      expectedHash: null,
      grant: grantTo(signer.identity, locker),
      mayCreate: true,
      check(before) {
        if (!overwrite && before && before.object_id !== null) throw namesTaken([filename])
      },
    }).finally(() => stream.destroy())
  } catch (error) {
    if (error instanceof AccessEnded) throw keyRemoved()
    throw error instanceof SourceError ? notFetched(error, maxBytes) : error
  }
}

function mediaTypeOf(header: string | null): string {
  return header !== null && mediaTypeProblem(header) === null ? header : DEFAULT_MEDIA_TYPE
}

function notFetched({ reason, message }: SourceError, maxBytes: number): ServiceError {
  if (reason === 'busy') return tooManyFetches(message)
  if (reason !== 'too_large') return new ValidationError({ loc: ['body', 'source_url'], msg: message })
  return uploadError('UPLOAD_TOO_LARGE', message, {
    layer: 'gateway',
    recovery_hint: 'upload the file instead of fetching it',
    next_best_method: 'POST /v1/lockers/{locker_id}/files',
    max_bytes: maxBytes,
  })
}
