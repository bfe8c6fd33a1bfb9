// The query parameters that all lists of keys share, and the format of their answers.

import { s3Error } from '@svc/s3/errors'
import { encodeKey, WrittenXml, writeContent, writeElement, type XmlFields } from '@svc/s3/xml'
import { disconnectSignal } from '@svc/service/http/disconnect-signal'
import type { Context } from '../../../context.ts'
import type { S3Caller } from '../caller.ts'
import type { S3Request } from '../request.ts'
import { findKeys, type KeyPage, type KeyQuery, type ListedKey } from './key-pages.ts'

interface ListQuery extends Omit<KeyQuery, 'after'> {
  encoding: 'url' | null
}

const MAX_KEYS = 1000

export function readListQuery({ query }: S3Request, { credential }: S3Caller): ListQuery {
  const prefix = readText(query, 'prefix') ?? ''
  if (!prefix.startsWith(credential.prefix)) {
    throw s3Error(
      'AccessDenied',
      'this access key opens only part of the bucket',
      `list with a prefix that begins with ${credential.prefix}`,
    )
  }
  return {
    prefix,
    delimiter: readText(query, 'delimiter') ?? '',
    limit: Math.min(readMaxKeys(query.get('max-keys') || String(MAX_KEYS)), MAX_KEYS),
    encoding: readEncoding(query.get('encoding-type') || null),
  }
}

/** Null when the query does not contain the parameter. */
export function readText(query: S3Request['query'], name: string): string | null {
  const text = query.get(name)
  if (text?.includes('\0')) throw s3Error('InvalidArgument', `${name} must not contain a NUL character`)
  return text ?? null
}

function readMaxKeys(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  if (count > 0x7fffffff) throw s3Error('InvalidArgument', 'max-keys must be a whole number from 0 to 2147483647')
  return count
}

function readEncoding(text: string | null): 'url' | null {
  if (text === null || text === 'url') return text
  throw s3Error('InvalidArgument', 'encoding-type can only be url')
}

export async function readPage(
  { database }: Context,
  { wire }: S3Request,
  { locker }: S3Caller,
  query: KeyQuery,
): Promise<KeyPage> {
  using disconnected = disconnectSignal(wire)
  return findKeys(database.db, locker.locker_id, query, disconnected.signal)
}

/** The fields of every kind of list. Text that may contain any character is encoded if the client requests it. */
export function listHead({ bucket }: S3Caller, { prefix, delimiter, limit, encoding }: ListQuery, { next }: KeyPage) {
  return {
    Name: bucket,
    Prefix: encodeKey(prefix, encoding),
    ...(delimiter !== '' && { Delimiter: encodeKey(delimiter, encoding) }),
    MaxKeys: limit,
    ...(encoding && { EncodingType: encoding }),
    IsTruncated: next !== null,
  }
}

export function commonPrefixes({ prefixes }: KeyPage, { encoding }: ListQuery) {
  return prefixes.map((prefix) => ({ Prefix: encodeKey(prefix, encoding) }))
}

/** `more`: the additional fields of each key in this list. */
export function listedKeys({ keys }: KeyPage, { encoding }: ListQuery, more: XmlFields = {}): WrittenXml[] {
  const rest = STORAGE_CLASS + writeContent(more)
  return keys.map((key) => new WrittenXml(writeKey(key, encoding) + rest))
}

function writeKey({ key, size, etag, uploadedAt, hasChecksum }: ListedKey, encoding: ListQuery['encoding']): string {
  const name = writeElement('Key', encodeKey(key, encoding))
  const written = `<LastModified>${lastModified(uploadedAt)}</LastModified><ETag>${etag.replaceAll('"', '&quot;')}</ETag>`
  return `${name}${written}${hasChecksum ? CHECKSUM : ''}<Size>${size}</Size>`
}

const CHECKSUM = writeContent({ ChecksumAlgorithm: 'SHA256', ChecksumType: 'FULL_OBJECT' })
const STORAGE_CLASS = writeContent({ StorageClass: 'STANDARD' })
const UNKNOWN_TIME = '1970-01-01T00:00:00Z'

/** The time format of S3: `2013-05-24T00:00:00.000Z`, always in whole seconds. */
function lastModified(uploadedAt: string | null): string {
  return `${(uploadedAt ?? UNKNOWN_TIME).slice(0, UNKNOWN_TIME.length - 1)}.000Z`
}
