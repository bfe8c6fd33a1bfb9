import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { bodyStream } from '../../src/http/body-stream.ts'
import { serve } from '../../src/http/serve.ts'
import { ServiceError } from '../../src/service-error.ts'
import { bytesEndpoint, GET, OK, POST, readUntil, useTestService } from './service.ts'

const post = endpoint({ ...POST, name: 'post', path: '/post', body: Type.Object({}), responses: OK })
const slow = endpoint({ ...GET, name: 'slow', path: '/slow', responses: OK })

let isTypeWrong = false
let finishSlow: PromiseWithResolvers<void>

const service = useTestService((routes) => {
  serve(routes, post, () => ({ ok: true }))
  serve(routes, slow, async () => {
    await finishSlow.promise
    return { ok: true }
  })
  serve(routes, bytesEndpoint('/bytes'), async ({ wire }) => {
    if (isTypeWrong) throw new ServiceError('CONTENT_TYPE_MISMATCH', 'no')
    let size = 0
    for await (const chunk of bodyStream(wire, 100)) size += (chunk as Buffer).length
    return { size }
  })
})

beforeEach(() => {
  isTypeWrong = false
  finishSlow = Promise.withResolvers()
})

describe('the head of a request', () => {
  it.each([
    ['two Host headers', 'Host: a\r\nhost: b\r\n'],
    ['the same Host twice', 'Host: a\r\nHost: a\r\n'],
    ['no Host header', ''],
  ])('T-05 is rejected with 400 when it has %s', async (_, hosts) => {
    expect(await service.answerTo(`GET /slow HTTP/1.1\r\n${hosts}\r\n`)).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\n.*malformed/s,
    )
  })

  it.each(['gzip, chunked', 'chunked, chunked', 'identity, chunked'])(
    'T-05 T-11 is rejected when it has Transfer-Encoding: %s',
    async (coding) => {
      const head = `POST /post HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n`
      expect(await service.answerTo(head, '2\r\n{}\r\n0\r\n\r\n')).toMatch(
        /^HTTP\/1\.1 (501 Not Implemented|400 Bad Request)\r\n/,
      )
    },
  )

  it('T-11 is a 431 with its phrase and a request id, readable by any page, when it is too long', async () => {
    const answer = await service.answerTo(`GET / HTTP/1.1\r\nHost: x\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\n.*"error":"headers_too_large"/s)
    expectOurHeaders(answer)
  })

  it('T-11 is a 408 when it does not end in time', { tags: ['nightly'] }, async () => {
    const socket = service.connect('GET / HTTP/1.1\r\nHost: x\r\nx: ')
    await expect.poll(() => service.connections()).toBe(1)
    service.expireHeaders()
    const answer = await readUntil(socket, '"}')
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"error":"request_timeout"/s)
    expectOurHeaders(answer)
    socket.destroy()
  })

  it('T-11 is answered after the request before it, even when it is not HTTP', async () => {
    const socket = service.connect('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n')
    finishSlow.resolve()
    const answers = await readUntil(socket, 'malformed_request')
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\{"ok":true\}HTTP\/1\.1 400 Bad Request\r\n/s)
    socket.destroy()
  })
})

function expectOurHeaders(answer: string): void {
  const id = /^x-request-id: (req_\w+)\r$/m.exec(answer)?.[1]
  expect(answer).toContain(`"request_id":"${id}"`)
  expect(answer).toMatch(/^access-control-allow-origin: \*\r$/m)
  expect(answer).toMatch(/^access-control-expose-headers: .*X-Request-Id/m)
  expect(answer).toMatch(/^content-type: application\/json/m)
}

it('T-11 a broken chunk after the answer closes the connection without a second answer', async () => {
  isTypeWrong = true
  const socket = service.connect('PUT /bytes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
  expect(await readUntil(socket, '"}')).toMatch(/^HTTP\/1\.1 403 /)
  socket.write('zz\r\n')
  expect(await readUntil(socket, '}')).toBe('')
})

it('T-11 a broken chunk of a request that waits for the answer before it writes nothing into that answer', async () => {
  const socket = service.connect(
    'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n',
    'PUT /bytes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  )
  expect(await readUntil(socket, '}')).toBe('')
})

describe('the status 100 Continue', () => {
  const expecting = (path: string, length: number) =>
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`

  it('T-11 is sent once the body is wanted', async () => {
    const socket = service.connect(expecting('/bytes', 3))
    expect(await readUntil(socket, '\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('abc')
    expect(await readUntil(socket, '}')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\{"size":3\}$/s)
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    finishSlow.resolve()
    expect(await readUntil(socket, '}')).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    socket.destroy()
  })

  it('T-11 does not keep a connection open that the client wants closed', async () => {
    const head = expecting('/bytes', 3).replace('\r\n', '\r\nConnection: close\r\n')
    const socket = service.connect(head, 'abc')
    const answer = await readUntil(socket, 'nothing ends the answer but the connection')
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*connection: close\r\n/is)
  })

  it.each([
    ['of a rejected type', '/bytes', 3, 403],
    ['that is too long', '/bytes', 101, 413],
    ['without a route', '/nowhere', 3, 404],
  ])('T-11 is never sent for a body %s, and the connection is closed', async (_, path, length, status) => {
    isTypeWrong = length === 3
    const socket = service.connect(expecting(path, length))
    const answer = await readUntil(socket, 'nothing ends the answer but the connection')
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(answer).toMatch(/^connection: close\r$/im)
  })
})

describe('other expectations', () => {
  const expecting = (value: string) =>
    `PUT /bytes HTTP/1.1\r\nHost: x\r\nExpect:${value}\r\nContent-Length: 3\r\n\r\nabc`

  it.each(['', '  '])('T-11 an empty Expect header is ignored: %j', async (value) => {
    expect(await service.answerTo(expecting(value))).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\{"size":3\}$/s)
  })

  it('T-11 GEN-02 an unknown expectation is 417, and the connection is closed', async () => {
    const socket = service.connect(expecting(' 200-ok'))
    const answer = await readUntil(socket, 'nothing ends the answer but the connection')
    expect(answer).toMatch(/^HTTP\/1\.1 417 Expectation Failed\r\n.*"error":"expectation_failed"/s)
    expect(answer).toMatch(/^connection: close\r$/im)
  })
})

it('T-11 an upload that stalls is 408', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const socket = service.connect(
      'PUT /bytes HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n',
    )
    await readUntil(socket, '100 Continue\r\n\r\n')
    vi.advanceTimersByTime(120_000)
    const answer = await readUntil(socket, '"}')
    expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"error":"request_timeout".*"layer":"gateway"/s)
    socket.destroy()
  } finally {
    vi.useRealTimers()
  }
})
