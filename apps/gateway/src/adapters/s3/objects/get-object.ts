// Reading an object, or only what there is to know about it (HEAD).

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
import { keptHeaders } from './object-headers.ts'

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

/** S3 answers a HEAD with what a GET would say, also about a range. */
function headOf({ status, headers }: ReturnType<typeof selectBytes>): Bytes {
  return new Bytes(status, headers, null)
}

/** An object has one part, however it was uploaded. */
function isFirstPart({ query, wire }: S3Request): boolean {
  const part = query.get('partNumber')
  if (part === undefined) return false
  if (!/^\d{1,5}$/.test(part) || part === '0') throw s3Error('InvalidArgument', 'partNumber is a number from 1 on')
  if (wire.headers.range !== undefined) throw s3Error('InvalidRequest', 'ask for a part or for a range, not for both')
  if (Number(part) > 1) throw s3Error('InvalidRange', 'the object has one part')
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

/** What the headers of an object are made from. */
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
    ...keptHeaders(file),
    ...overrides(query),
    ...(withChecksum && sha256Headers(file.content_hash as string)),
  } as Record<string, string> & { 'content-type': string } // `facts` has it
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

/** What a reader asks to have answered instead. The query is signed, and the headers that keep browsers safe stay. */
function overrides(query: S3Request['query']): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of OVERRIDES) {
    const value = query.get(`response-${name}`)
    if (value === undefined) continue
    const header = Buffer.from(value).toString('latin1')
    if (/[^\t\x20-\x7e\x80-\xff]/.test(header)) {
      throw s3Error('InvalidArgument', `response-${name} is not the value of a header`)
    }
    found[name] = header
  }
  return found
}

/** A client would compare it with the bytes of the range. */
function withoutChecksum(answer: Bytes): Bytes {
  delete answer.headers['x-amz-checksum-sha256']
  delete answer.headers['x-amz-checksum-type']
  return answer
}
