import { s3Error } from '@svc/s3/errors'
import { emptyAnswer } from '../answers.ts'
import { etagOfPart } from '../etags.ts'
import type { S3Operation } from '../operation.ts'
import { openBody } from '../request.ts'
import { checksumHeaders, isChecksumSent } from './checksums.ts'
import { maxPartBytes, storeUploadPart } from './store-part.ts'
import { readPartNumber, requireUpload } from './uploads.ts'

export const uploadPart: S3Operation = async (context, request, caller) => {
  const number = readPartNumber(request.query.get('partNumber'))
  const upload = await requireUpload(context, request, caller)
  const { size, bytes, checksums } = openBody(request, maxPartBytes(context, upload))
  if (size === null) throw s3Error('MissingContentLength', 'a part needs Content-Length')
  const sent = isChecksumSent(request.signed.headers, upload.file) ? checksums : null
  const part = await storeUploadPart(context, upload, caller, { number, size, bytes, sent })
  return emptyAnswer(200, { etag: etagOfPart(part.digest), ...checksumHeaders(checksums()) })
}
