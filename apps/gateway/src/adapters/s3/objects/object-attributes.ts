// What clients can read about an object besides its bytes.

import { s3Error } from '@svc/s3/errors'
import { xmlAnswer } from '../answers.ts'
import { etagOf, validatorsOf } from '../etags.ts'
import type { S3Operation } from '../operation.ts'
import { acceptPrivateAcl, aclAnswer } from '../owner.ts'
import { findObject, refuseVersion } from './find-object.ts'
import { sha256Base64 } from './get-object.ts'

const ATTRIBUTES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize']

export const getObjectAttributes: S3Operation = async (context, request, { locker }) => {
  refuseVersion(request)
  const asked = (request.signed.headers['x-amz-object-attributes'] ?? '').split(',').map((name) => name.trim())
  if (!asked.every((name) => ATTRIBUTES.includes(name))) {
    throw s3Error('InvalidArgument', `x-amz-object-attributes must list some of ${ATTRIBUTES.join(', ')}`)
  }
  const { file, size } = await findObject(context, locker, request.key)
  const { modifiedAt } = validatorsOf(file)
  const { content_hash } = file
  const values = {
    // AWS omits the quotes here, too.
    ETag: etagOf(file).slice(1, -1),
    Checksum:
      content_hash === null ? undefined : { ChecksumSHA256: sha256Base64(content_hash), ChecksumType: 'FULL_OBJECT' },
    StorageClass: 'STANDARD',
    ObjectSize: size,
  }
  const answered = Object.entries(values).filter(([name]) => asked.includes(name))
  const headers = modifiedAt === null ? {} : { 'last-modified': new Date(modifiedAt).toUTCString() }
  return xmlAnswer(200, 'GetObjectAttributesResponse', Object.fromEntries(answered), headers)
}

export const getObjectAcl: S3Operation = async (context, request, { locker }) => {
  refuseVersion(request)
  await findObject(context, locker, request.key)
  return aclAnswer(locker)
}

export const putObjectAcl: S3Operation = async (context, request, { locker }) => {
  refuseVersion(request)
  await findObject(context, locker, request.key)
  return acceptPrivateAcl(request, locker)
}

/** Objects have no tags. */
export const getObjectTagging: S3Operation = async (context, request, { locker }) => {
  refuseVersion(request)
  await findObject(context, locker, request.key)
  return xmlAnswer(200, 'Tagging', { TagSet: '' })
}
