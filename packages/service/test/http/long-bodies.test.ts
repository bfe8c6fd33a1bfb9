import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { beforeEach, describe, expect, it } from 'vitest'
import { createBodyReader } from '../../src/http/json-body.ts'
import { serveKnown } from '../../src/http/serve.ts'
import { ServiceError } from '../../src/service-error.ts'
import { readUntil, useTestService } from './service.ts'

const MAX_BYTES = 1_048_576
const batch = endpoint({
  name: 'batch',
  method: 'POST',
  path: '/batch',
  auth: 'internal',
  summary: 'accepts long lists from known callers',
  body: Type.Object({ files: Type.Array(Type.String(), { maxItems: 20_000 }) }),
  maxBodyBytes: MAX_BYTES,
  responses: { 200: Type.Object({ files: Type.Integer() }) },
})

let isKnown = true
/** How much of the body had arrived when the caller was authenticated. */
let seen = -1

const service = useTestService((routes) => {
  serveKnown(
    routes,
    batch,
    async (wire) => {
      seen = wire.body.length
      if (!isKnown) throw new ServiceError('OIDC_TOKEN_INVALID', 'who are you?')
      await wire.collect(wire.headers['x-short'] ? 8_192 : undefined)
      seen = wire.body.length
    },
    ({ body }) => ({ files: body.files.length }),
  )
})
beforeEach(() => {
  isKnown = true
})

const JSON_TYPE = { 'content-type': 'application/json' }

async function post(
  body: string,
  headers: Record<string, string> = JSON_TYPE,
): Promise<[status: number, answer: unknown]> {
  const response = await fetch(`${service.url}/batch`, { method: 'POST', body, headers })
  return [response.status, await response.json()]
}

const listOf = (count: number) => JSON.stringify({ files: Array<string>(count).fill('a'.repeat(100)) })

describe('a long body', () => {
  it('T-11 is read and parsed after the caller is known', async () => {
    expect(await post(listOf(5_000))).toEqual([200, { files: 5_000 }])
    expect(seen).toBe(listOf(5_000).length)
    expect(await post('{"files":[]}')).toEqual([200, { files: 0 }])
    expect(await post('')).toMatchObject([422, { error: 'validation_error' }])
    expect(await post(listOf(12_000))).toMatchObject([413, { error: 'body_too_large' }])
    expect(await post('{}', { 'content-type': 'text/plain' })).toMatchObject([415, {}])
  })

  it.each([
    ['with its length', `Content-Length: ${MAX_BYTES}`],
    ['in chunks', 'Transfer-Encoding: chunked'],
    ['that waits for 100 Continue', `Content-Length: ${MAX_BYTES}\r\nExpect: 100-continue`],
  ])('T-11 %s of an unknown caller is rejected without reading a byte', async (_, framing) => {
    isKnown = false
    const socket = service.connect(`POST /batch HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`)
    expect(await readUntil(socket, '"}')).toMatch(/^HTTP\/1\.1 401 .*"error":"OIDC_TOKEN_INVALID"/s)
    expect(seen).toBe(0)
    socket.destroy()
  })

  it('T-11 is rejected early when this caller may only send a short one', async () => {
    const short = { ...JSON_TYPE, 'x-short': 'yes' }
    expect(await post(listOf(10), short)).toMatchObject([200, {}])
    expect(await post(listOf(100), short)).toMatchObject([413, { details: { max_bytes: 8_192 } }])
    const chunked = 'POST /batch HTTP/1.1\r\nHost: x\r\nX-Short: yes\r\nTransfer-Encoding: chunked\r\n\r\n'
    expect(await service.answerTo(chunked, `2001\r\n${'a'.repeat(0x2001)}\r\n`)).toMatch(/^HTTP\/1\.1 413 /)
  })
})

describe('bodies that are being collected', () => {
  /** The request as the HTTP server passes it on. */
  const incoming = () => Object.assign(new PassThrough(), { headers: {} }) as unknown as PassThrough & IncomingMessage

  it('T-11 take no more memory when they arrive in chunks of one byte', async () => {
    const readBody = createBodyReader()
    const request = incoming()
    const read = new Promise<Uint8Array>((resolve) => readBody(request, MAX_BYTES, (_, body) => resolve(body!)))
    for (let i = 0; i < 100_000; i++) request.write('a')
    request.end()
    const body = await read
    expect(body.length).toBe(100_000)
    expect(body.buffer.byteLength).toBeLessThanOrEqual(200_000)
  })

  it('T-11 share a memory limit, and a body beyond it is 503 with Retry-After', async () => {
    const readBody = createBodyReader(10_000)
    const outcomes: string[] = []
    const begin = (name: string) => {
      const request = incoming()
      readBody(request, MAX_BYTES, (error, body) => {
        const { code, headers } = (error ?? {}) as Partial<ServiceError>
        outcomes.push(`${name} ${code ?? body?.length} ${headers?.['retry-after'] === undefined ? '' : 'later'}`.trim())
      })
      return request
    }
    const first = begin('first')
    first.write('a'.repeat(6_000))
    const second = begin('second')
    second.write('a'.repeat(6_000))
    await expect.poll(() => outcomes).toEqual(['second overloaded later'])
    first.end()
    await expect.poll(() => outcomes).toEqual(['second overloaded later', 'first 6000'])
    begin('third').end('a'.repeat(6_000))
    await expect.poll(() => outcomes.at(-1)).toBe('third 6000')
  })
})
