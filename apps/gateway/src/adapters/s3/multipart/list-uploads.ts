import { formatXmlDate } from '@svc/s3/dates'
import { s3Error } from '@svc/s3/errors'
import { encodeKey } from '@svc/s3/xml'
import { unixNow } from '../../../context.ts'
import { isGranted } from '../../../lockers/access.ts'
import { xmlAnswer } from '../answers.ts'
import { requireWithinPrefix } from '../caller.ts'
import type { S3Operation } from '../operation.ts'
import { announcedElements } from './checksums.ts'
import { readNumber } from './list-parts.ts'
import { findOpenUploads } from './store.ts'
import { pageOfUploads } from './upload-pages.ts'

const MAX_UPLOADS = 1000

export const listUploads: S3Operation = async (context, { bucket, query }, { locker, credential }) => {
  const textOf = (name: string) => query.get(name) ?? ''
  const [prefix, delimiter, keyMarker] = [textOf('prefix'), textOf('delimiter'), textOf('key-marker')]
  const uploadIdMarker = keyMarker === '' ? '' : textOf('upload-id-marker')
  const limit = Math.min(readNumber(query, 'max-uploads', MAX_UPLOADS), MAX_UPLOADS)
  const encoding = readEncoding(textOf('encoding-type'))
  requireWithinPrefix(credential, prefix)
  const open = await findOpenUploads(context.database.db, locker.locker_id, unixNow(context))
  const granted = open.filter(({ grant }) => isGranted(locker, grant))
  const page = pageOfUploads(granted, { prefix, delimiter, keyMarker, uploadIdMarker, limit })
  const isTruncated = page.next !== null
  const owner = { ID: locker.locker_id, DisplayName: locker.locker_id }
  return xmlAnswer(200, 'ListMultipartUploadsResult', {
    Bucket: bucket,
    KeyMarker: encodeKey(keyMarker, encoding),
    UploadIdMarker: uploadIdMarker,
    ...(page.next && { NextKeyMarker: encodeKey(page.next.key, encoding), NextUploadIdMarker: page.next.uploadId }),
    Prefix: encodeKey(prefix, encoding),
    ...(delimiter !== '' && { Delimiter: encodeKey(delimiter, encoding) }),
    ...(encoding && { EncodingType: encoding }),
    MaxUploads: limit,
    IsTruncated: isTruncated,
    Upload: page.uploads.map((upload) => ({
      Key: encodeKey(upload.key, encoding),
      UploadId: upload.uploadId,
      Initiator: owner,
      Owner: owner,
      StorageClass: 'STANDARD',
      Initiated: formatXmlDate(upload.openedAt),
      ...announcedElements(upload),
    })),
    CommonPrefixes: page.prefixes.map((folder) => ({ Prefix: encodeKey(folder, encoding) })),
  })
}

function readEncoding(text: string): 'url' | null {
  if (text === '' || text === 'url') return text || null
  throw s3Error('InvalidArgument', 'encoding-type can only be url')
}
