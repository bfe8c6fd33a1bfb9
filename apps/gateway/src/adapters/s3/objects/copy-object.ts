// Copies an object, or replaces its headers. Bytes pass through the gateway and are hashed: a copy that does not match
// the hash of its source is rejected.

import { unixSeconds } from '@svc/protocol/evidence'
import { formatXmlDate } from '@svc/s3/dates'
import { s3Error } from '@svc/s3/errors'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../../context.ts'
import type { FileRow } from '../../../db/schema.ts'
import { countUnconfirmed, lockFile, updateFile } from '../../../files/store.ts'
import { storeBytes } from '../../../files/store-bytes.ts'
import { requireGranted } from '../../../lockers/access.ts'
import { type FoundBytes, openBytes } from '../../http/answer-bytes.ts'
import type { S3Caller } from '../caller.ts'
import { etagOf, md5Of, withMd5 } from '../etags.ts'
import type { S3Operation } from '../operation.ts'
import { streamXmlWithKeepAlive } from '../stream-xml.ts'
import { findCopySource } from './copy-source.ts'
import { noSuchKey, requireKey } from './find-object.ts'
import { sha256Base64 } from './get-object.ts'
import { type ObjectHeaders, readObjectHeaders, refuseUnsupported } from './object-headers.ts'
import { readWriteCondition, type WriteCondition } from './write-condition.ts'

export const copyObject: S3Operation = async (context, request, caller) => {
  const { key, signed } = request
  refuseUnsupported(signed.headers)
  requireKey(context, key)
  const replaces = readDirective(signed.headers)
  const check = readWriteCondition(signed.headers)
  const source = await findCopySource(context, request, caller)
  const about = replaces ? replacedHeaders(signed.headers, source.file) : headersOf(source.file)
  const isOnItself = source.file.locker_id === caller.locker.locker_id && source.file.filename === key
  if (isOnItself && !replaces) throw changesNothing()
  const copying = isOnItself
    ? changeHeaders(context, caller, source, { ...about, check })
    : copyBytes(context, caller, source, { ...about, check, filename: key })
  return streamXmlWithKeepAlive(context, 'CopyObjectResult', copying.then(resultOf))
}

function resultOf(file: FileRow) {
  return {
    ETag: etagOf(file),
    LastModified: formatXmlDate(unixSeconds(file.uploaded_at ?? '') ?? 0),
    ...(file.content_hash !== null && {
      ChecksumSHA256: sha256Base64(file.content_hash),
      ChecksumType: 'FULL_OBJECT',
    }),
  }
}

function headersOf({ content_type: contentType, metadata }: FileRow): ObjectHeaders {
  return { contentType, metadata }
}

function replacedHeaders(headers: Readonly<Record<string, string>>, file: FileRow): ObjectHeaders {
  const { contentType, metadata } = readObjectHeaders(headers)
  return { contentType, metadata: withMd5(metadata, md5Of(file)) }
}

export function readDirective({
  'x-amz-metadata-directive': directive = 'COPY',
}: Readonly<Record<string, string>>): boolean {
  if (directive === 'COPY' || directive === 'REPLACE') return directive === 'REPLACE'
  throw s3Error('InvalidArgument', 'x-amz-metadata-directive must be COPY or REPLACE')
}

export function changesNothing() {
  return s3Error(
    'InvalidRequest',
    'copying an object to its own key changes nothing',
    'send x-amz-metadata-directive: REPLACE with the new headers',
  )
}

interface Change extends ObjectHeaders {
  check: WriteCondition
}

/** Neither the bytes nor the manifest change. */
async function changeHeaders(
  context: Context,
  { locker: { locker_id }, credential: { grant } }: S3Caller,
  { file: { filename, object_id } }: FoundBytes,
  { contentType: content_type, metadata, check }: Change,
): Promise<FileRow> {
  return context.database.commit(async (tx) => {
    const file = await lockFile(tx, locker_id, filename)
    if (!file) throw noSuchKey()
    if (file.object_id !== object_id) throw s3Error('OperationAborted', 'the object was replaced in the meantime')
    check(file)
    await updateFile(tx, locker_id, filename, { content_type, metadata })
    await requireGranted(tx, await countUnconfirmed(tx, locker_id, 0), grant)
    return { ...file, content_type, metadata }
  })
}

async function copyBytes(
  context: Context,
  caller: S3Caller,
  source: FoundBytes,
  put: Change & { filename: string },
): Promise<FileRow> {
  const { size, file } = source
  const { grant } = caller.credential
  function accept(contentHash: string): void {
    if (file.content_hash !== null && file.content_hash !== contentHash) throw damaged()
  }
  return storeBytes(
    context,
    caller.locker,
    { open: () => openBytes(context, source), size, hash: 'now', accept },
    { ...put, expectedHash: null, grant, mayCreate: true },
  )
}

function damaged(): ServiceError {
  return new ServiceError('STORAGE_UNAVAILABLE', 'the stored bytes of the source do not match the recorded hash', {
    hint: "nothing was copied; contact the gateway's admin",
  })
}
