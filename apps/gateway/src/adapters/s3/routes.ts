// The S3 endpoint: one route for every path. Keys are read from the raw request target.

import type { S3Error } from '@svc/s3/errors'
import { Bytes } from '@svc/service/http/answer'
import { EVERY_ANSWER, headerList, isStream } from '@svc/service/http/send'
import type { Service } from '@svc/service/http/service'
import type { HttpRequest } from '@svc/service/http/wire-request'
import type { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { TOKEN_HEADERS } from '../http/file-headers.ts'
import { authenticate, findBuckets, openBucket, requireAllowed } from './caller.ts'
import type { S3Credential } from './credentials/find-credential.ts'
import { findServiceVerb, findVerb } from './dispatch.ts'
import { asS3Error, errorAnswer, idHeaders } from './errors.ts'
import { isS3Target, readS3Target, type S3Request } from './request.ts'

const ROUTE = '/s3'
const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']

export function s3Routes(service: Service, context: Context): void {
  const { enabled, host } = context.config.s3
  if (!enabled) return
  service.addForeignProtocol({
    route: ROUTE,
    owns: (target, requested) => isS3Target(target, requested, host),
    answerOf: (error: ServiceError, id, request) => errorAnswer(asS3Error(error) as S3Error, id, request), // of every ServiceError
  })

  async function handle(request: HttpRequest): Promise<void> {
    let route = ROUTE
    try {
      const s3Target = readS3Target(request, host)
      const { signed, credential } = await authenticate(context, request)
      const s3Request = { ...s3Target, wire: request, signed }
      const asked = await findOperation(context, s3Request, credential)
      route = asked.route
      const bytes = await asked.answer()
      service.sendBytes(request, route, finished(bytes, request, policyOf(s3Request)))
    } catch (error) {
      const refusal = asS3Error(error)
      if (!refusal) throw error
      const { status, headers, text } = errorAnswer(refusal, request.id, request.stream)
      service.send(request, { route, status, headers: headerList(headers), text })
    }
  }

  // A route for GET also answers HEAD.
  for (const method of METHODS.filter((name) => name !== 'HEAD'))
    service.add({ method, path: ROUTE, maxBodyBytes: null, handle })
  service.add({
    method: 'OPTIONS',
    path: ROUTE,
    maxBodyBytes: null,
    handle: (request) =>
      service.send(request, { route: ROUTE, status: 204, headers: headerList(preflight(request)), text: null }),
  })
}

interface Asked {
  route: string
  answer(): Promise<Bytes>
}

/** Authorizes the head of a request before any of the body is read. */
async function findOperation(context: Context, request: S3Request, presented: S3Credential): Promise<Asked> {
  const { bucket, signed, wire } = request
  if (bucket === '') {
    const buckets = await findBuckets(context, presented)
    const { route, operation } = findServiceVerb(wire.method, signed, request)
    return { route, answer: () => operation(context, request, { presented, buckets }) }
  }
  const caller = await openBucket(context, presented, bucket)
  const { route, operation, needs } = findVerb(wire.method, signed, request)
  return {
    route,
    async answer() {
      requireAllowed(caller, request, needs)
      if (needs === 'write') await context.continuity.requireCurrent()
      return operation(context, request, caller)
    },
  }
}

/**
 * A presigned URL is a credential, like a short URL: caches must not store its responses, whatever headers the object
 * has. The signer may set another policy in the URL itself.
 */
function policyOf({ signed, query }: S3Request): Record<string, string> {
  if (signed.authorization.form !== 'query') return {}
  const { 'cache-control': noStore, ...rest } = TOKEN_HEADERS
  return query.has('response-cache-control') ? rest : { 'cache-control': noStore, ...rest }
}

function finished(
  { status, headers, body, onBrokenOff }: Bytes,
  { id, method, headers: requested }: HttpRequest,
  policy: Record<string, string>,
): Bytes {
  const all = { ...(requested.origin !== undefined && EXPOSED), ...headers, ...policy, ...idHeaders(id) }
  if (method === 'HEAD' && body !== null && isStream(body)) body.destroy()
  const bytes = new Bytes(status, all, method === 'HEAD' ? null : body)
  bytes.onBrokenOff = onBrokenOff
  return bytes
}

/** Clients choose the names of metadata headers. A wildcard works because no request here carries cookies. */
const EXPOSED = { 'access-control-expose-headers': '*' }
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

/** Allows exactly the headers that a page requests, because a wildcard would not include Authorization. */
function preflight({ headers }: HttpRequest): Record<string, string> {
  const asked = headers['access-control-request-headers'] ?? ''
  return {
    ...EVERY_ANSWER,
    'access-control-allow-methods': METHODS.join(', '),
    ...(HEADER_NAMES.test(asked) && { 'access-control-allow-headers': asked }),
    'access-control-max-age': '86400',
    vary: 'access-control-request-headers',
  }
}
