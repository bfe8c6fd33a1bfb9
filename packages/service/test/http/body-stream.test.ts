import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { bodyStream } from '../../src/http/body-stream.ts'
import { serve } from '../../src/http/serve.ts'
import type { WireRequest } from '../../src/http/wire-request.ts'
import { ServiceError } from '../../src/service-error.ts'
import { bytesEndpoint, readUntil, useTestService } from './service.ts'

const MAX = 1_000_000
const MEBIBYTE = 1_048_576

/** The behaviour of the next request. */
let operation: (wire: WireRequest) => Promise<number>

const service = useTestService((routes) => {
  serve(routes, bytesEndpoint('/bytes'), async ({ wire }) => ({ size: await operation(wire) }))
})

const readAll = async (wire: WireRequest) => (await buffer(bodyStream(wire, MAX))).length
const chunked = 'PUT /bytes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
const announced = (length: number) => `PUT /bytes HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`

/** The length or error code with which a stream ends; listens only from this call on. */
async function outcome(body: Readable): Promise<unknown> {
  return buffer(body).then(
    (bytes) => bytes.length,
    (error) => error.code,
  )
}

describe('a body that arrives', () => {
  it('T-11 is read completely and in order, however it is split', async () => {
    let received = ''
    operation = async (wire) => {
      received = (await buffer(bodyStream(wire, MAX))).toString()
      return received.length
    }
    const socket = service.connect(chunked, chunk('one'), chunk('t'), chunk('wo'), '0\r\n\r\n')
    expect(await readUntil(socket, '}')).toMatch(/^HTTP\/1\.1 200 .*\{"size":6\}$/s)
    expect(received).toBe('onetwo')
    socket.destroy()
  })

  it('T-11 frees the memory of its chunks when their reader has used them', async () => {
    const chunks: Buffer[] = []
    operation = async (wire) => {
      const body = bodyStream(wire, MAX)
      for await (const chunk of body) chunks.push(chunk as Buffer)
      const { length } = Buffer.concat(chunks)
      body.free?.(chunks)
      return length
    }
    const socket = service.connect(announced(100_000), 'x'.repeat(100_000))
    expect(await readUntil(socket, '}')).toContain('{"size":100000}')
    expect(chunks.map(({ length }) => length)).toEqual(chunks.map(() => 0))
    socket.destroy()
  })

  it('T-11 may be empty, with or without a declared length', async () => {
    operation = readAll
    for (const head of [announced(0), 'PUT /bytes HTTP/1.1\r\nHost: x\r\n\r\n', `${chunked}0\r\n\r\n`]) {
      expect(await service.answerTo(head)).toContain('{"size":0}')
    }
  })

  it('T-11 is not buffered in memory for a slow reader', async () => {
    let mostHeld = 0
    operation = async (wire) => {
      const body = bodyStream(wire, 64 * MEBIBYTE)
      let size = 0
      for await (const piece of body) {
        size += (piece as Buffer).length
        for (let turn = 0; turn < 3; turn++) await nextTurn()
        mostHeld = Math.max(mostHeld, body.readableLength)
      }
      return size
    }
    const response = await fetch(`${service.url}/bytes`, { method: 'PUT', body: new Uint8Array(16 * MEBIBYTE) })
    expect(await response.json()).toEqual({ size: 16 * MEBIBYTE })
    expect(mostHeld).toBeLessThan(MEBIBYTE)
  })
})

describe('a body that is too large', () => {
  it('LIM-12 is rejected before its first byte when its declared length is too large', async () => {
    operation = readAll
    const answer = await service.answerTo(announced(MAX + 1))
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*"error":"UPLOAD_TOO_LARGE".*"layer":"gateway"/s)
    expect(answer).toMatch(/"recovery_hint":".+","next_best_method":".+","max_bytes":1000000/)
  })

  it('LIM-12 is rejected when it exceeds the limit, and a client that keeps sending gets its answer', async () => {
    operation = readAll
    const upload = httpRequest(`${service.url}/bytes`, { method: 'PUT' })
    upload.on('error', () => {})
    for (let i = 0; i < 32; i++) upload.write(Buffer.alloc(MEBIBYTE))
    const [response] = await once(upload, 'response')
    expect([response.statusCode, JSON.parse((await buffer(response)).toString()).error]).toEqual([
      413,
      'UPLOAD_TOO_LARGE',
    ])
    upload.destroy()
  })
})

describe('a body that is cut short', () => {
  /** The reader's result when the client disconnects as soon as the operation has begun. */
  async function readerGets(bytes: string, read: (wire: WireRequest) => Promise<unknown>): Promise<unknown> {
    const ended = Promise.withResolvers<unknown>()
    const begun = Promise.withResolvers<void>()
    operation = async (wire) => {
      const reading = read(wire)
      begun.resolve()
      ended.resolve(await reading)
      return 0
    }
    const socket = service.connect(bytes)
    await begun.promise
    socket.destroy()
    return ended.promise
  }

  it.each([
    ['with a declared length', `${announced(100)}half`],
    ['chunked', chunked + chunk('half')],
    ['inside a chunk', `${chunked}64\r\nhalf`],
  ])('T-11 fails for its reader: %s', async (_, bytes) => {
    expect(await readerGets(bytes, (wire) => outcome(bodyStream(wire, MAX)))).toBe('malformed_request')
  })

  it('T-11 also fails for a reader that starts late, and does not end the process', async () => {
    const readLate = async (wire: WireRequest) => {
      const body = bodyStream(wire, MAX)
      await new Promise((resolve) => body.once('close', resolve))
      return outcome(body)
    }
    expect(await readerGets(`${announced(100)}half`, readLate)).toBe('malformed_request')
  })

  it('T-11 fails immediately when the client was gone before the stream was opened', async () => {
    const openLate = async (wire: WireRequest) => {
      await once(wire.stream, 'close').catch(() => {})
      return outcome(bodyStream(wire, MAX))
    }
    expect(await readerGets(`${announced(100)}half`, openLate)).toBe('malformed_request')
  })

  it('T-11 is answered with 400 when the client stops sending valid HTTP, or ends its side too early', async () => {
    operation = readAll
    const broken = /^HTTP\/1\.1 400 .*"error":"malformed_request"/s
    expect(await service.answerTo(chunked, chunk('half'), 'zz\r\n')).toMatch(broken)
    const socket = service.connect(announced(100), 'half')
    socket.end()
    expect(await readUntil(socket, '"}')).toMatch(broken)
  })
})

describe('a body that is abandoned', () => {
  it('leaves the connection usable for the answer and the next request', async () => {
    operation = async (wire) => {
      const body = bodyStream(wire, MAX)
      await expect.poll(() => wire.stream.isPaused()).toBe(true)
      body.destroy()
      throw new ServiceError('FILE_NOT_FOUND', 'gone')
    }
    const socket = service.connect(announced(500_000), 'a'.repeat(400_000))
    expect(await readUntil(socket, '}')).toMatch(/^HTTP\/1\.1 404 /)
    operation = readAll
    socket.write('a'.repeat(100_000))
    socket.write(`${announced(3)}abc`)
    expect(await readUntil(socket, '}')).toContain('{"size":3}')
    socket.destroy()
  })

  it('T-11 is read for at most ten seconds when it was never HTTP', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const socket = connect({ port: Number(new URL(service.url).port), host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => {}).write('NONSENSE\r\n\r\n')
      expect(await readUntil(socket, '"}')).toMatch(/^HTTP\/1\.1 400 /)
      vi.advanceTimersByTime(10_000)
      const sendMore = () => {
        socket.write('more')
        return socket.destroyed
      }
      await expect.poll(sendMore).toBe(true)
    } finally {
      vi.useRealTimers()
    }
  })
})
