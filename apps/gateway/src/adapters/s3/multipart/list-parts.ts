import { formatXmlDate } from '@svc/s3/dates'
import { s3Error } from '@svc/s3/errors'
import { findParts } from '../../../files/parts/part-store.ts'
import { xmlAnswer } from '../answers.ts'
import { etagOfPart } from '../etags.ts'
import type { S3Operation } from '../operation.ts'
import { announcedElements, checksumElements } from './checksums.ts'
import { requireUpload } from './uploads.ts'

const MAX_PARTS = 1000

export const listParts: S3Operation = async (context, request, caller) => {
  const { bucket, key, query } = request
  const after = readNumber(query, 'part-number-marker', 0)
  const maxParts = Math.min(readNumber(query, 'max-parts', MAX_PARTS), MAX_PARTS)
  const { session, file } = await requireUpload(context, request, caller)
  const all = await findParts(context.database.db, session.session_id, file.file_id)
  const rest = all.filter(({ part_index }) => part_index + 1 > after)
  const page = rest.slice(0, maxParts)
  const last = page.at(-1)
  const owner = { ID: session.locker_id, DisplayName: session.locker_id }
  return xmlAnswer(200, 'ListPartsResult', {
    Bucket: bucket,
    Key: key,
    UploadId: session.session_id,
    Initiator: owner,
    Owner: owner,
    StorageClass: 'STANDARD',
    PartNumberMarker: after,
    NextPartNumberMarker: last ? last.part_index + 1 : after,
    MaxParts: maxParts,
    IsTruncated: rest.length > page.length && page.length > 0,
    ...announcedElements(file),
    Part: page.map((part) => ({
      PartNumber: part.part_index + 1,
      LastModified: formatXmlDate(part.received_at ?? session.opened_at ?? 0),
      ETag: etagOfPart(part.sha256),
      Size: part.size_bytes,
      ...checksumElements(file, part.checksum),
    })),
  })
}

export function readNumber(query: ReadonlyMap<string, string>, name: string, initial: number): number {
  const text = query.get(name)
  if (text === undefined || text === '') return initial
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw s3Error('InvalidArgument', `${name} must be a whole number`)
}
