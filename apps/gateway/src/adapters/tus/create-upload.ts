// POST: creates an upload, optionally with its first bytes.

import type { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { generatedName, type NamedFile, nameFiles } from '../../files/name-files.ts'
import { maxObjectBytes } from '../../files/objects.ts'
import { beginUpload, newSession, tooManyUnfinished } from '../../files/parts/new-session.ts'
import { maxPartBytes } from '../../files/parts/record-parts.ts'
import { findFile } from '../../files/store.ts'
import { requireQuota } from '../../lockers/quota.ts'
import { createdAnswer } from './answers.ts'
import { MAX_BLOCK_BYTES } from './blocks.ts'
import { joinUploads } from './concat.ts'
import { badHeader, nameTaken, tooLong } from './errors.ts'
import { finishUpload, hasAllBytes } from './finish.ts'
import { headerOf, isChunk, numberOf, requireChunk, requireVersion } from './headers.ts'
import { readMetadata } from './metadata.ts'
import { insertUpload, type TusRow } from './store.ts'
import type { TusCaller } from './tokens.ts'
import { findUpload, TTL_SECONDS } from './upload.ts'
import { appendBody } from './write-upload.ts'

export async function createUpload(context: Context, caller: TusCaller, wire: WireRequest): Promise<Bytes> {
  requireVersion(wire)
  const concat = headerOf(wire, 'Upload-Concat')
  const metadata = headerOf(wire, 'Upload-Metadata')
  const isFinal = concat !== null && /^final\s*;/.test(concat)
  if (concat !== null && !isFinal && concat !== 'partial') {
    throw badHeader('Upload-Concat', "must be 'partial', or 'final;' followed by the URLs of partial uploads")
  }
  if (wire.hasBody) requireChunk(wire)
  const { rateLimiter, config } = context
  await rateLimiter.take({ key: `signer ${caller.grant.key}`, perMinute: config.limits.perSigner })
  const named = nameUpload(context, caller, metadata)
  // A partial upload has no name yet.
  if (concat !== 'partial') await requireFree(context, caller, named)
  if (isFinal) return joinUploads(context, caller, wire, { concat, named, metadata })
  const kind = concat === 'partial' ? 'partial' : 'whole'
  const length = lengthOf(context, caller, wire)
  const bytes = length ?? 0
  const added = kind === 'partial' ? { stored: bytes } : { named: [{ filename: named.filename, bytes }] }
  await requireQuota(context, caller.locker, added)
  const token = await insertNew(context, caller, named, { kind, metadata, length })
  const upload = await findUpload(context, token)
  if (isChunk(wire) && wire.hasBody) {
    await context.lockUpload(upload.session.session_id, (signal) => appendBody(context, upload, wire, signal))
  }
  const current = await findUpload(context, token)
  const file = hasAllBytes(current.file) ? await finishUpload(context, current) : current.file
  return createdAnswer(context, token, { ...current, file })
}

/** The client's name for the file, below the prefix of the token. */
function nameUpload(context: Context, { prefix }: TusCaller, metadata: string | null): NamedFile {
  const { filename = generatedName(context), ...rest } = readMetadata(metadata)
  return nameFiles(context, [{ ...rest, filename: prefix + filename }], () => ['header', 'Upload-Metadata'])[0]!
}

async function requireFree(
  context: Context,
  { locker, mayReplace }: TusCaller,
  { filename }: NamedFile,
): Promise<void> {
  if (mayReplace) return
  const file = await findFile(context.database.db, locker.locker_id, filename)
  if (file && file.object_id !== null) throw nameTaken(filename)
}

function lengthOf(context: Context, { locker }: TusCaller, wire: WireRequest): number | null {
  const length = numberOf(wire, 'Upload-Length')
  const deferred = headerOf(wire, 'Upload-Defer-Length')
  if (deferred !== null && deferred !== '1') throw badHeader('Upload-Defer-Length', 'must be 1')
  if ((length === null) === (deferred === null)) {
    throw badHeader('Upload-Length', 'is required unless Upload-Defer-Length: 1 is sent')
  }
  const max = maxObjectBytes(context, locker.provider)
  if (length !== null && length > max) throw tooLong(max)
  return length
}

/** Per locker and day. Crashed clients leave some behind. */
const MAX_OPEN_UPLOADS = 10_000
const ENDING = {
  hint: 'finish an upload, or DELETE its URL',
  next: 'DELETE /v1/tus/{upload_id}',
}

async function insertNew(
  context: Context,
  { locker, grant, mayReplace }: TusCaller,
  named: NamedFile,
  { kind, metadata, length }: { kind: TusRow['kind']; metadata: string | null; length: number | null },
): Promise<string> {
  const { token, session, files } = newSession(context, locker, {
    door: 'tus',
    grant,
    ttlSeconds: TTL_SECONDS,
    files: [{ ...named, sizeBytes: length, mayReplace }],
  })
  const { session_id } = session
  const block_bytes = Math.min(MAX_BLOCK_BYTES, maxPartBytes(context, locker.provider))
  const row: TusRow = { session_id, kind, upload_metadata: metadata, upload_concat: null, block_bytes }
  const size = { files: 1, most: MAX_OPEN_UPLOADS }
  const isNew = await beginUpload(context, session, size, (tx) => insertUpload(tx, session, files[0]!, row))
  if (isNew === null) throw tooManyUnfinished(MAX_OPEN_UPLOADS, ENDING)
  if (!isNew) throw new ServiceError('internal_error', 'the same random token was generated twice')
  return token
}
