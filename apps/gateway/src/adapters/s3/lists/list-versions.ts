import { s3Error } from '@svc/s3/errors'
import { encodeKey } from '@svc/s3/xml'
import { xmlAnswer } from '../answers.ts'
import type { S3Operation } from '../operation.ts'
import { ownerOf } from '../owner.ts'
import { commonPrefixes, listedKeys, listHead, readListQuery, readPage, readText } from './list-query.ts'

/** The version id of S3 for the only version of a key in an unversioned bucket. */
const ONLY_VERSION = 'null'

export const listVersions: S3Operation = async (context, request, caller) => {
  const query = readListQuery(request, caller)
  const marker = readText(request.query, 'key-marker') ?? ''
  const versionMarker = request.query.get('version-id-marker') ?? ''
  if (marker === '' && versionMarker !== '') throw s3Error('InvalidArgument', 'version-id-marker requires key-marker')
  const page = await readPage(context, request, caller, { ...query, after: marker })
  const { next, keys } = page
  return xmlAnswer(200, 'ListVersionsResult', {
    ...listHead(caller, query, page),
    KeyMarker: encodeKey(marker, query.encoding),
    VersionIdMarker: encodeKey(versionMarker, query.encoding),
    ...(next !== null && { NextKeyMarker: encodeKey(next, query.encoding) }),
    ...(next !== null && keys.at(-1)?.key === next && { NextVersionIdMarker: ONLY_VERSION }),
    Version: listedKeys(page, query, { VersionId: ONLY_VERSION, IsLatest: true, Owner: ownerOf(caller.locker) }),
    CommonPrefixes: commonPrefixes(page, query),
  })
}
