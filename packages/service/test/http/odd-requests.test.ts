import { endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { afterEach, expect, it, vi } from 'vitest'
import { serve } from '../../src/http/serve.ts'
import { OK, POST, readUntil, useTestService } from './service.ts'

const post = endpoint({ ...POST, name: 'post', path: '/post', body: Type.Object({}), responses: OK })

let served = 0

const service = useTestService((routes) =>
  serve(routes, post, () => {
    served++
    return { ok: true }
  }),
)
afterEach(async () => {
  vi.useRealTimers()
  await expect.poll(() => service.connections()).toBe(0)
})

const statusOf = async (request: string) => Number((await service.answerTo(request)).slice(9, 12))

const CHUNKED = 'POST /post HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'

it.each([
  ['a long path', 431, `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['many headers', 431, `GET / HTTP/1.1\r\nHost: x\r\n${'A: 1\r\n'.repeat(5_000)}\r\n`],
  ['a second Host behind many headers', 431, `GET / HTTP/1.1\r\nHost: x\r\n${'A:1\r\n'.repeat(1_500)}Host: y\r\n\r\n`],
  ['a long chunk extension', 400, `${CHUNKED}2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`],
  ['many trailers', 431, `${CHUNKED}0\r\n${'A: 1\r\n'.repeat(10_000)}\r\n`],
  ['a chunk with an invalid length', 400, `${CHUNKED}ffffffffffffffffff\r\n`],
])('T-89 %s is %i, and costs no more than the limit of the head', async (_, status, bytes) => {
  served = 0
  expect(await statusOf(bytes)).toBe(status)
  expect(served).toBe(0)
})

it('T-89 an upgrade is answered like any request, and CONNECT opens no tunnel', async () => {
  const upgrade = 'Connection: upgrade\r\nUpgrade: websocket\r\n'
  expect(await statusOf(`GET /nowhere HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`)).toBe(404)
  const socket = service.connect('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')
  expect(await readUntil(socket, 'nothing but the end')).toBe('')
})

it('T-89 a body that arrives byte by byte has thirty seconds in total', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const head = 'POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\nExpect: 100-continue\r\n\r\n'
  const socket = service.connect(head)
  await readUntil(socket, '100 Continue\r\n\r\n')
  for (let second = 0; second < 30; second++) {
    socket.write(' ')
    vi.advanceTimersByTime(1_000)
  }
  expect(await readUntil(socket, '"}')).toMatch(/^HTTP\/1\.1 408 .*"error":"request_timeout"/s)
  socket.destroy()
})

it('T-89 the bytes after a rejected request are discarded for ten seconds, and then the connection ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const socket = service.connect('POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n')
  await readUntil(socket, '"}')
  socket.write(' ')
  vi.advanceTimersByTime(9999)
  expect(socket.closed).toBe(false)
  vi.advanceTimersByTime(1)
  await expect.poll(() => socket.resume().closed).toBe(true)
})
