// For tests: sends a request exactly as given. Unlike fetch, it does not normalize the target, and headers may repeat.

import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Reply } from '@svc/devnet/services/test-gateway'

export interface RawRequest {
  method: string
  /** The request target, sent unchanged. */
  target: string
  headers?: Record<string, string | string[]>
  body?: Uint8Array | string | undefined
}

/** Many requests may wait for one of these connections. */
const fewSockets = new Agent({ keepAlive: true, maxSockets: 50 })

export async function sendRaw<Body = { error?: string }>(
  url: string,
  { method, target, headers = {}, body }: RawRequest,
): Promise<Reply<Body>> {
  const { hostname, port } = new URL(url)
  const isComplete = body !== undefined && headers['transfer-encoding'] === undefined
  const length = isComplete ? { 'content-length': String(Buffer.byteLength(body)) } : {}
  const options = { hostname, port, method, path: target, headers: { ...length, ...headers }, agent: fewSockets }
  const { promise, resolve, reject } = Promise.withResolvers<Reply<Body>>()
  const outgoing = request(options, (response) => {
    text(response).then((answer) => {
      const head = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])
      resolve({
        status: response.statusCode ?? 0,
        headers: new Headers(head),
        body: answer ? JSON.parse(answer) : null,
      })
    }, reject)
  })
  outgoing.on('error', reject).end(body)
  return promise
}
