import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { s3Error } from '@svc/s3/errors'
import { encodeKey } from '@svc/s3/xml'
import { xmlAnswer } from '../answers.ts'
import type { S3Operation } from '../operation.ts'
import { ownerOf } from '../owner.ts'
import { commonPrefixes, listedKeys, listHead, readListQuery, readPage, readText } from './list-query.ts'

export const listObjectsV2: S3Operation = async (context, request, caller) => {
  const query = readListQuery(request, caller)
  const startAfter = readText(request.query, 'start-after')
  const token = request.query.get('continuation-token')
  // Some clients send an empty one for the first page.
  const after = token ? keyIn(token) : startAfter
  const page = await readPage(context, request, caller, { ...query, after })
  const withOwner = request.query.get('fetch-owner') === 'true'
  return xmlAnswer(200, 'ListBucketResult', {
    ...listHead(caller, query, page),
    KeyCount: page.keys.length + page.prefixes.length,
    ...(startAfter && { StartAfter: encodeKey(startAfter, query.encoding) }),
    ...(token !== undefined && { ContinuationToken: token }),
    ...(page.next !== null && { NextContinuationToken: tokenAfter(page.next) }),
    Contents: listedKeys(page, query, withOwner ? { Owner: ownerOf(caller.locker) } : {}),
    CommonPrefixes: commonPrefixes(page, query),
  })
}

/** The version of the token's format. */
const TOKEN_VERSION = '1'

/** A position among the keys, independent of keys that are added or deleted meanwhile. */
function tokenAfter(entry: string): string {
  return TOKEN_VERSION + toBase64Url(utf8(entry))
}

function keyIn(token: string): string {
  const bytes = token.startsWith(TOKEN_VERSION) ? fromBase64Url(token.slice(TOKEN_VERSION.length)) : null
  const key = bytes && fromUtf8(bytes)
  if (!key || key.includes('\0')) {
    throw s3Error(
      'InvalidArgument',
      'the continuation token is invalid',
      'send an unmodified NextContinuationToken, or list from the beginning',
    )
  }
  return key
}
