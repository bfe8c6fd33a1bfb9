import { formatXmlDate } from '@svc/s3/dates'
import { s3Error } from '@svc/s3/errors'
import type { ByteRange } from '@svc/storage/provider'
import { unixNow } from '../../../context.ts'
import { openBytes } from '../../http/answer-bytes.ts'
import { etagOfPart } from '../etags.ts'
import { findCopySource } from '../objects/copy-source.ts'
import type { S3Operation } from '../operation.ts'
import { streamXmlWithKeepAlive } from '../stream-xml.ts'
import { storeUploadPart } from './store-part.ts'
import { readPartNumber, requireUpload } from './uploads.ts'

/** Stores a part from a stored file of the same locker, or from a range of it. */
export const copyPart: S3Operation = async (context, request, caller) => {
  const number = readPartNumber(request.query.get('partNumber'))
  const upload = await requireUpload(context, request, caller)
  const source = await findCopySource(context, request, caller)
  const range = readCopyRange(request.signed.headers['x-amz-copy-source-range'], source.size)
  const size = range ? range.end - range.start + 1 : source.size
  async function copy() {
    const bytes = await openBytes(context, source, range)
    try {
      const part = await storeUploadPart(context, upload, caller, { number, size, bytes, sent: null })
      return { ETag: etagOfPart(part.digest), LastModified: formatXmlDate(unixNow(context)) }
    } finally {
      bytes.destroy()
    }
  }
  return streamXmlWithKeepAlive(context, 'CopyPartResult', copy())
}

/** Stricter than a Range header: both ends are required and must be within the source. */
function readCopyRange(header: string | undefined, size: number): ByteRange | undefined {
  if (header === undefined) return undefined
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header) ?? []
  const range = { start: Number(first), end: Number(last) }
  if (last === undefined || range.start > range.end) {
    throw s3Error('InvalidArgument', 'x-amz-copy-source-range must have the form bytes=first-last')
  }
  if (range.end < size) return range
  throw s3Error('InvalidRange', `x-amz-copy-source-range goes beyond the ${size} bytes of the source`)
}
