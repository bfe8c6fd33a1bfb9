import { s3Error } from '@svc/s3/errors'
import { encodeKey } from '@svc/s3/xml'
import { xmlAnswer } from '../answers.ts'
import type { S3Operation } from '../operation.ts'
import { ownerOf } from '../owner.ts'
import { listObjectsV2 } from './list-objects-v2.ts'
import { commonPrefixes, listedKeys, listHead, readListQuery, readPage, readText } from './list-query.ts'

/** `GET` of a bucket, in the version that the query names. */
export const listObjects: S3Operation = async (context, request, caller) => {
  const version = request.query.get('list-type')
  if (version === undefined) return listObjectsV1(context, request, caller)
  if (version === '2') return listObjectsV2(context, request, caller)
  throw s3Error('InvalidArgument', 'list-type can only be 2')
}

const listObjectsV1: S3Operation = async (context, request, caller) => {
  const query = readListQuery(request, caller)
  const marker = readText(request.query, 'marker') ?? ''
  const page = await readPage(context, request, caller, { ...query, after: marker })
  // Without a delimiter, clients use the last key as the next marker.
  const hasNext = page.next !== null && query.delimiter !== ''
  return xmlAnswer(200, 'ListBucketResult', {
    ...listHead(caller, query, page),
    Marker: encodeKey(marker, query.encoding),
    ...(hasNext && { NextMarker: encodeKey(page.next as string, query.encoding) }),
    Contents: listedKeys(page, query, { Owner: ownerOf(caller.locker) }),
    CommonPrefixes: commonPrefixes(page, query),
  })
}
