// The S3 endpoint: one route for all of it, whatever the path. Keys are read from the target as it was sent.

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
import { isS3Target, readPlace, type S3Request } from './request.ts'

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
      const place = readPlace(request, host)
      const { signed, credential } = await authenticate(context, request)
      const s3Request = { ...place, wire: request, signed }
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

  // A route for GET answers HEAD, too.
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

/** The body of a request is not read before its head is known to be signed, by somebody who may do what it asks for. */
async function findOperation(context: Context, request: S3Request, held: S3Credential): Promise<Asked> {
  const { bucket, signed, wire } = request
  if (bucket === '') {
    const buckets = await findBuckets(context, held)
    const { route, operation } = findServiceVerb(wire.method, signed, request)
    return { route, answer: () => operation(context, request, { held, buckets }) }
  }
  const caller = await openBucket(context, held, bucket)
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
 * A presigned URL is a credential, as a short URL is: no cache may keep its answers, whatever was stored with the object.
 * The signer may ask for another policy in the URL itself.
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

/** Metadata has names of the client's choosing. A wildcard is good for requests without cookies, as all of these are. */
const EXPOSED = { 'access-control-expose-headers': '*' }
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/

/** What a page asks for is allowed, because a wildcard would not include Authorization. */
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
