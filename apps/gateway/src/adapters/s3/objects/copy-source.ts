// The object that a request copies: `x-amz-copy-source`, and the conditions on it.

import { s3Error } from '@svc/s3/errors'
import { readTarget } from '@svc/s3/target'
import { requireServed } from '../../../auth/restrictions.ts'
import type { Context } from '../../../context.ts'
import type { Locker } from '../../../db/schema.ts'
import type { FoundBytes } from '../../http/answer-bytes.ts'
import { checkConditions } from '../../http/range-requests.ts'
import { openBucket, requireWithinPrefix, type S3Caller } from '../caller.ts'
import { quoted, validatorsOf } from '../etags.ts'
import type { S3Request } from '../request.ts'
import { findObject, refuseVersion } from './find-object.ts'

export async function findCopySource(context: Context, request: S3Request, caller: S3Caller): Promise<FoundBytes> {
  const { locker, key } = await findSource(context, request, caller)
  const source = await findObject(context, locker, key)
  requireSourceConditions(request.signed.headers, source.file)
  return source
}

/** The source may be in any locker that the credential opens. */
export async function findSource(
  context: Context,
  request: S3Request,
  caller: S3Caller,
): Promise<{ locker: Locker; key: string }> {
  const { bucket, key, query } = readSource(request, caller)
  const { locker } = bucket === caller.bucket ? caller : await openBucket(context, caller.presented, bucket)
  requireServed(locker)
  refuseVersion({ query })
  return { locker, key }
}

/** A key that may write only within a prefix may also read only there. */
export function readSource(
  { signed: { headers } }: Pick<S3Request, 'signed'>,
  { presented, credential }: Pick<S3Caller, 'presented' | 'credential'>,
) {
  const source = parseSource(headers['x-amz-copy-source'] ?? '')
  if (!('wallet' in presented) && source.bucket !== presented.lockerId) {
    throw s3Error('AccessDenied', 'this access key opens another bucket', 'copy objects only within one bucket')
  }
  requireWithinPrefix(credential, source.key)
  return source
}

function parseSource(header: string) {
  const { path, parameters } = readTarget(header.startsWith('/') ? header : `/${header}`)
  const [, bucket, key] = /^\/([^/]+)\/(.+)$/s.exec(decodedPath(path)) ?? []
  if (bucket === undefined || key === undefined) throw badSource()
  return { bucket, key, query: new Map(parameters.map(({ name, value }) => [name, value])) }
}

/** Some clients send the key in UTF-8 without encoding it; Node reads each byte as one character. */
function decodedPath(path: string): string {
  try {
    return decodeURIComponent(Buffer.from(path, 'latin1').toString())
  } catch {
    throw badSource()
  }
}

function badSource() {
  return s3Error('InvalidArgument', 'x-amz-copy-source must be bucket/key, percent-encoded')
}

export function requireSourceConditions(
  headers: Readonly<Record<string, string>>,
  file: Parameters<typeof validatorsOf>[0],
): void {
  const of = (name: string) => headers[`x-amz-copy-source-if-${name}`]
  const [match, noneMatch] = [of('match'), of('none-match')]
  const conditions = {
    ...(match !== undefined && { 'if-match': quoted(match) }),
    ...(noneMatch !== undefined && { 'if-none-match': quoted(noneMatch) }),
    'if-modified-since': of('modified-since'),
    'if-unmodified-since': of('unmodified-since'),
  }
  if (checkConditions(conditions, validatorsOf(file)) === 'met') return
  throw s3Error('PreconditionFailed', 'the source does not meet the conditions of the request')
}
