// Completes an upload. The client's choice of parts is recorded first: from then on the gateway finishes the file by
// itself, even if the connection or the process is lost.

import { bare } from '@svc/protocol/bytes'
import { s3Error } from '@svc/s3/errors'
import { formatEtag } from '@svc/s3/etag'
import { encodeKey } from '@svc/s3/xml'
import { requireWritable } from '../../../auth/restrictions.ts'
import { type Context, unixNow } from '../../../context.ts'
import type { Tx } from '../../../db/schema.ts'
import { chooseParts, isChosen } from '../../../files/parts/choose-parts.ts'
import { isLeased } from '../../../files/parts/close-session.ts'
import { findParts, type Part } from '../../../files/parts/part-store.ts'
import { isSealed } from '../../../files/parts/record-parts.ts'
import { findSessionFile, lockSession, type SessionFile } from '../../../files/parts/store.ts'
import { findFile } from '../../../files/store.ts'
import { requireGranted } from '../../../lockers/access.ts'
import type { S3Caller } from '../caller.ts'
import { readWriteCondition } from '../objects/write-condition.ts'
import type { S3Operation } from '../operation.ts'
import { readSmallBody, type S3Request } from '../request.ts'
import { streamXmlWithKeepAlive } from '../stream-xml.ts'
import { beingCompleted } from './abort-upload.ts'
import { announcedOf, checksumElements, checksumOf, requireSameChecksum } from './checksums.ts'
import { digestOf, type ListedPart, listedParts, MAX_LIST_BYTES, readPartList } from './part-list.ts'
import { FILE_ID, findUpload, isInProgress, noSuchUpload } from './uploads.ts'

/** Attempts when parts arrive or are found lost in the meantime. */
const MAX_ATTEMPTS = 3

/** A repeated completion with the same parts gets the same answer. */
export const completeUpload: S3Operation = async (context, request, caller) => {
  const list = readPartList(await readSmallBody(request, MAX_LIST_BYTES))
  const completing = completeWith(context, request, caller, list)
  return streamXmlWithKeepAlive(context, 'CompleteMultipartUploadResult', completing)
}

async function completeWith(
  context: Context,
  request: S3Request,
  caller: S3Caller,
  list: readonly ListedPart[],
): Promise<Record<string, string>> {
  const digest = digestOf(list)
  for (let i = 0; i < MAX_ATTEMPTS; i++) {
    const upload = await findUpload(context, request, caller)
    if (!upload) throw noSuchUpload()
    if (isStoredOf(upload.file, digest)) return resultOf(context, request, upload.file)
    const { session_id } = upload.session
    await context.database.commit((tx) => choose(tx, context, request, caller, session_id, list))
    await context.finalizeSession(session_id)
  }
  const upload = await findUpload(context, request, caller)
  if (upload && isStoredOf(upload.file, digest)) return resultOf(context, request, upload.file)
  throw s3Error(
    'OperationAborted',
    'parts of the upload changed while it was completed',
    'list its parts and try again',
  )
}

function isStoredOf({ state, chosen_parts }: SessionFile, digest: string): boolean {
  return state === 'stored' && chosen_parts === digest
}

async function choose(
  tx: Tx,
  context: Context,
  { key, signed: { headers } }: S3Request,
  { locker, credential }: S3Caller,
  sessionId: string,
  list: readonly ListedPart[],
): Promise<void> {
  const now = unixNow(context)
  const session = await lockSession(tx, sessionId)
  const file = await findSessionFile(tx, sessionId, FILE_ID)
  if (!session || !file || !isInProgress(session, now)) throw noSuchUpload()
  await requireGranted(tx, session, credential.grant)
  requireWritable(session)
  const digest = digestOf(list)
  const isSameChoice = isChosen(file) && file.chosen_parts === digest
  if (isLeased(session, now)) {
    if (isSameChoice) return
    throw beingCompleted()
  }
  if (isSealed(file) && !isSameChoice) throw otherCompletionInProgress()
  const parts = listedParts(list, await findParts(tx, sessionId, FILE_ID), file)
  requireSize(headers, parts)
  const checksum = checksumOf(file, parts)
  requireSameChecksum(headers, file, checksum)
  const before = await findFile(tx, locker.locker_id, key)
  readWriteCondition(headers)(before)
  const isConditional = headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
  const replaces = isConditional ? (before?.object_id ?? '') : null
  await chooseParts(tx, context, file, { parts, digest, checksum, replaces })
}

function requireSize({ 'x-amz-mp-object-size': declared }: Readonly<Record<string, string>>, parts: readonly Part[]) {
  const size = parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
  if (declared === undefined || declared === String(size)) return
  throw s3Error('InvalidRequest', `x-amz-mp-object-size does not match the total size of the parts, which is ${size}`)
}

function otherCompletionInProgress() {
  return s3Error(
    'InvalidRequest',
    'a completion with a different list of parts is in progress',
    'complete it with the same list, or abort it and upload again',
  )
}

function resultOf({ config }: Context, { bucket, key }: S3Request, file: SessionFile): Record<string, string> {
  const type = announcedOf(file)?.type
  return {
    Location: `${config.http.baseUrl}/s3/${bucket}/${encodeKey(key, 'url')}`,
    Bucket: bucket,
    Key: key,
    ETag: formatEtag(bare(file.content_hash!)),
    ...checksumElements(file, file.checksum),
    ...(type && { ChecksumType: type }),
  }
}
