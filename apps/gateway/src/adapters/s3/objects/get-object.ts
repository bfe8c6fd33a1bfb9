// Reads an object, or only its headers (HEAD).

import type { IncomingHttpHeaders } from 'node:http'
import { bare } from '@svc/protocol/bytes'
import { s3Error } from '@svc/s3/errors'
import { Bytes } from '@svc/service/http/answer'
import type { FileRow } from '../../../db/schema.ts'
import { answerBytes, type FoundBytes, selectBytes } from '../../http/answer-bytes.ts'
import { refuseAsCode } from '../../http/fetch-destination.ts'
import { fileHeaders } from '../../http/file-headers.ts'
import { etagOf, quoted, validatorsOf } from '../etags.ts'
import type { S3Operation } from '../operation.ts'
import type { S3Request } from '../request.ts'
import { findObject, refuseVersion } from './find-object.ts'
import { storedHeaders } from './object-headers.ts'

export const getObject: S3Operation = async (context, request, { locker }) => {
  refuseVersion(request)
  const isPart = isFirstPart(request)
  const bytes = await findObject(context, locker, request.key)
  const headers = { ...objectHeaders(bytes, request), ...(isPart && { 'x-amz-mp-parts-count': '1' }) }
  refuseAsCode(request.wire.headers, headers['content-type'])
  const { method } = request.wire
  const asked = readConditions(request, isPart && bytes.size > 0)
  const about = { headers, validators: validatorsOf(bytes.file) }
  const answer =
    method === 'HEAD'
      ? headOf(selectBytes(bytes.size, asked, about))
      : await answerBytes(context, bytes, { method, headers: asked }, about)
  return answer.status === 200 ? answer : withoutChecksum(answer)
}

/** Like S3, HEAD returns the headers of GET, including those of a range. */
function headOf({ status, headers }: ReturnType<typeof selectBytes>): Bytes {
  return new Bytes(status, headers, null)
}

/** Every object has one part, however it was uploaded. */
function isFirstPart({ query, wire }: S3Request): boolean {
  const part = query.get('partNumber')
  if (part === undefined) return false
  if (!/^\d{1,5}$/.test(part) || part === '0') throw s3Error('InvalidArgument', 'partNumber must be a positive integer')
  if (wire.headers.range !== undefined) throw s3Error('InvalidRequest', 'request either a part or a range, not both')
  if (Number(part) > 1) throw s3Error('InvalidRange', 'the object has only one part')
  return true
}

export function readConditions({ wire: { headers } }: S3Request, isPart: boolean): IncomingHttpHeaders {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  return {
    ...headers,
    ...(match !== undefined && { 'if-match': quoted(match) }),
    ...(noneMatch !== undefined && { 'if-none-match': quoted(noneMatch) }),
    ...(isPart && { range: 'bytes=0-' }),
  }
}

/** The data behind the headers of an object. */
interface Described extends Pick<FoundBytes, 'size'> {
  file: Pick<FileRow, 'filename' | 'content_type' | 'content_hash' | 'object_id' | 'uploaded_at' | 'metadata'>
}

export function objectHeaders(
  bytes: Described,
  { signed, query }: S3Request,
): Record<string, string> & { 'content-type': string } {
  const { file, size } = bytes
  const { filename, content_type: contentType } = file
  const { modifiedAt } = validatorsOf(file)
  const { 'content-disposition': _, ...facts } = fileHeaders({
    filename,
    contentType,
    etag: etagOf(file),
    size,
    modifiedAt,
  })
  const withChecksum = signed.headers['x-amz-checksum-mode']?.toUpperCase() === 'ENABLED' && file.content_hash !== null
  return {
    ...facts,
    ...storedHeaders(file),
    ...overrides(query),
    ...(withChecksum && sha256Headers(file.content_hash as string)),
  } as Record<string, string> & { 'content-type': string } // `facts` contains it
}

function sha256Headers(contentHash: string): Record<string, string> {
  return { 'x-amz-checksum-sha256': sha256Base64(contentHash), 'x-amz-checksum-type': 'FULL_OBJECT' }
}

export function sha256Base64(contentHash: string): string {
  return Buffer.from(bare(contentHash), 'hex').toString('base64')
}

const OVERRIDES = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
]

/** The response headers that a reader overrides. The query is signed, and the headers that protect browsers stay. */
function overrides(query: S3Request['query']): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of OVERRIDES) {
    const value = query.get(`response-${name}`)
    if (value === undefined) continue
    const header = Buffer.from(value).toString('latin1')
    if (/[^\t\x20-\x7e\x80-\xff]/.test(header)) {
      throw s3Error('InvalidArgument', `response-${name} is not a valid header value`)
    }
    found[name] = header
  }
  return found
}

/** A client would compare the checksum with the bytes of the range. */
function withoutChecksum(answer: Bytes): Bytes {
  delete answer.headers['x-amz-checksum-sha256']
  delete answer.headers['x-amz-checksum-type']
  return answer
}
