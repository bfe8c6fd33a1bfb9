// Headers of every answer: its request id, and that any web page may call, never with that page's cookies (ADD-09).

import type { FastifyInstance } from 'fastify'

const REQUEST_HEADERS = [
  'Content-Type',
  'Idempotency-Key',
  'X402-TX',
  'PAYMENT-SIGNATURE',
  'X-Svc-Envelope',
  'X-Svc-Signature',
  'X-Svc-Identity',
  'X-Upload-Token',
  'Authorization',
  'Range',
  // Released x402 clients send this response header as a request header.
  'Access-Control-Expose-Headers',
].join(', ')

const EXPOSED_HEADERS = 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After, ETag, Content-Range, Location, X-Request-Id'

export function sendCommonHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('access-control-allow-origin', '*')
    reply.header('access-control-expose-headers', EXPOSED_HEADERS)
    if (request.method !== 'OPTIONS') return done()
    reply
      .header('access-control-allow-methods', 'GET, HEAD, POST, PUT, DELETE, OPTIONS')
      .header('access-control-allow-headers', REQUEST_HEADERS)
      .header('access-control-max-age', '86400')
      .code(204)
      .send()
  })
}
