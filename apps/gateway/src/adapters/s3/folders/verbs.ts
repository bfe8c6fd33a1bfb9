// Operations on keys that end with a slash. All other operations treat such a key as an object.

import { unixSeconds } from '@svc/protocol/evidence'
import { formatXmlDate } from '@svc/s3/dates'
import { s3Error } from '@svc/s3/errors'
import { Bytes } from '@svc/service/http/answer'
import type { Context } from '../../../context.ts'
import type { S3FolderTable } from '../../../db/schema.ts'
import { maxObjectBytes } from '../../../files/objects.ts'
import { checkConditions } from '../../http/range-requests.ts'
import { emptyAnswer, xmlAnswer } from '../answers.ts'
import type { S3Caller } from '../caller.ts'
import { etagOf, validatorsOf } from '../etags.ts'
import { changesNothing, readDirective } from '../objects/copy-object.ts'
import { findSource, requireSourceConditions } from '../objects/copy-source.ts'
import { deleteObject } from '../objects/delete-object.ts'
import { noSuchKey, refuseVersion } from '../objects/find-object.ts'
import { objectHeaders, readConditions } from '../objects/get-object.ts'
import { readObjectHeaders, refuseUnsupported } from '../objects/object-headers.ts'
import { readWriteCondition } from '../objects/write-condition.ts'
import type { S3Operation, Verbs } from '../operation.ts'
import { acceptPrivateAcl, aclAnswer } from '../owner.ts'
import { openBody, type S3Request } from '../request.ts'
import { asFile, isFolderKey, requireFolderKey, saveFolder } from './folders.ts'
import { findFolder } from './store.ts'

const putFolder: S3Operation = async (context, request, caller) => {
  const { key, signed } = request
  refuseUnsupported(signed.headers)
  requireFolderKey(context, key)
  const about = readObjectHeaders(signed.headers)
  const check = readWriteCondition(signed.headers)
  await requireNoBytes(request, maxObjectBytes(context, caller.locker.provider))
  return emptyAnswer(200, { etag: etagOf(await saveFolder(context, caller, { folder: key, ...about, check })) })
}

/** The body may be framed and checksummed, but must contain no bytes. */
async function requireNoBytes(request: S3Request, maxBytes: number): Promise<void> {
  const { size, bytes } = openBody(request, maxBytes)
  if (size) throw hasBytes()
  for await (const piece of bytes) if (piece.length > 0) throw hasBytes()
}

function hasBytes() {
  return s3Error(
    'InvalidArgument',
    'a key that ends with / is a folder and cannot contain bytes',
    'store the bytes with a key that does not end with /',
  )
}

async function requireFolder(
  { database }: Context,
  { locker }: Pick<S3Caller, 'locker'>,
  key: string,
): Promise<S3FolderTable> {
  const folder = await findFolder(database.db, locker.locker_id, key)
  if (!folder) throw noSuchKey()
  return folder
}

const readFolder: S3Operation = async (context, request, caller) => {
  refuseVersion(request)
  const file = asFile(await requireFolder(context, caller, request.key))
  const headers = objectHeaders({ file, size: 0 }, request)
  const outcome = checkConditions(readConditions(request, false), validatorsOf(file))
  if (outcome === 'failed')
    throw s3Error('PreconditionFailed', 'the folder does not meet the conditions of the request')
  if (outcome === 'met') return new Bytes(200, headers, null)
  const { 'content-length': _, ...common } = headers
  return new Bytes(304, common, null)
}

const copyFolder: S3Operation = async (context, request, caller) => {
  const { key, signed } = request
  refuseUnsupported(signed.headers)
  requireFolderKey(context, key)
  const replaces = readDirective(signed.headers)
  const check = readWriteCondition(signed.headers)
  const { locker, key: sourceKey } = await findSource(context, request, caller)
  if (!isFolderKey(sourceKey)) throw hasBytes()
  const isOnItself = locker.locker_id === caller.locker.locker_id && sourceKey === key
  if (isOnItself && !replaces) throw changesNothing()
  const source = await requireFolder(context, { locker }, sourceKey)
  requireSourceConditions(signed.headers, asFile(source))
  const { content_type: contentType, metadata } = source
  const about = replaces ? readObjectHeaders(signed.headers) : { contentType, metadata }
  const copy = await saveFolder(context, caller, { folder: key, ...about, check })
  return xmlAnswer(200, 'CopyObjectResult', {
    ETag: etagOf(copy),
    LastModified: formatXmlDate(unixSeconds(copy.uploaded_at) ?? 0),
  })
}

const getFolderAcl: S3Operation = async (context, request, caller) => {
  refuseVersion(request)
  await requireFolder(context, caller, request.key)
  return aclAnswer(caller.locker)
}

const putFolderAcl: S3Operation = async (context, request, caller) => {
  await requireFolder(context, caller, request.key)
  return acceptPrivateAcl(request, caller.locker)
}

export const folderVerbs: Verbs = {
  'GET folder': { operation: readFolder, needs: 'read' },
  'HEAD folder': { operation: readFolder, needs: 'read' },
  'PUT folder': { operation: putFolder, needs: 'write' },
  'PUT folder copy': { operation: copyFolder, needs: 'write' },
  'GET folder?acl': { operation: getFolderAcl, needs: 'read' },
  'PUT folder?acl': { operation: putFolderAcl, needs: 'write' },
  'DELETE folder': { operation: deleteObject, needs: 'write' },
}
