import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openSource } from '../../src/outgoing/open-source.ts'
import { downloadFrom, refusalOf, SOURCE, startTestTlsServer, textOf } from './tls-server.ts'

const raw =
  (text: string): RequestListener =>
  (request) =>
    request.socket.end(`HTTP/1.1 200 OK\r\n${text}`)

/** A byte every few milliseconds, forever. */
const trickle: RequestListener = (_request, response) => {
  const timer = setInterval(() => response.write('x'), 5)
  response.once('close', () => clearInterval(timer))
}

/** As many bytes as the reader accepts, forever. */
const flood: RequestListener = (_request, response) => {
  const chunk = Buffer.alloc(64 * 1024)
  const writeMore = () => {
    for (let more = true; more && !response.destroyed; ) more = response.write(chunk)
  }
  response.on('drain', writeMore)
  writeMore()
}

afterEach(() => vi.useRealTimers())

describe('a response that is not the file', () => {
  it.each([201, 204, 206, 300, 304, 400, 401, 403, 404, 429, 500, 503])(
    'FILE-28 is a bad_status when its status is %d',
    async (status) => {
      expect(await downloadFrom((_request, response) => response.writeHead(status).end())).toBe('bad_status')
    },
  )

  it('FILE-28 shows the caller its status, but not its body', async () => {
    await using server = await startTestTlsServer((_request, response) => response.writeHead(404).end('secret'))
    const { message } = await refusalOf(openSource(SOURCE, server.options))
    expect(message).toContain('404')
    expect(message).not.toContain('secret')
  })

  it.each(['gzip', 'br', 'deflate', 'GZIP', 'identity, gzip', 'x-unknown'])(
    'T-08 is rejected when it is encoded with %s',
    async (encoding) => {
      const packed = gzipSync('hello')
      const outcome = await downloadFrom((_request, response) =>
        response.writeHead(200, { 'content-encoding': encoding, 'content-length': packed.length }).end(packed),
      )
      expect(outcome).toBe('encoded')
    },
  )

  it('T-08 is rejected when it has a compressed transfer encoding', async () => {
    expect(await downloadFrom(raw('transfer-encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'))).toBe('encoded')
  })

  it('FILE-26 is accepted as the file when its encoding is identity', async () => {
    const identity: RequestListener = (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'Identity' }).end('hello')
    expect(await downloadFrom(identity)).toBe('hello')
  })
})

describe('a file that is too large', () => {
  it('LIM-12 is rejected by its Content-Length', async () => {
    const announce =
      (size: number | string): RequestListener =>
      (_request, response) =>
        response.writeHead(200, { 'content-length': size }).flushHeaders()
    expect(await downloadFrom(announce(11), { maxBytes: 10 })).toBe('too_large')
    expect(await downloadFrom(announce(2 ** 30 + 1))).toBe('too_large')
    expect(await downloadFrom(announce('9007199254740993'))).toBe('too_large')
  })

  it('LIM-12 is rejected at the first byte over the limit when its length is not declared', async () => {
    expect(await downloadFrom(flood, { maxBytes: 1_000_000 })).toBe('too_large')
  })

  it('LIM-12 has at least one byte more than the limit', async () => {
    const chunked: RequestListener = (_request, response) => {
      response.write('hello')
      response.end('world')
    }
    expect(await downloadFrom(chunked, { maxBytes: 10 })).toBe('helloworld')
    expect(await downloadFrom(chunked, { maxBytes: 9 })).toBe('too_large')
  })
})

describe('a truncated file', () => {
  it.each([
    ['before its length', 'content-length: 10\r\n\r\nhello'],
    ['before its first byte', 'content-length: 10\r\n\r\n'],
    ['within a chunk', 'transfer-encoding: chunked\r\n\r\n9\r\nhello'],
    ['after a chunk', 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n'],
    ['before the end of its last chunk', 'transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n'],
    ['between malformed chunks', 'transfer-encoding: chunked\r\n\r\nhello'],
    ['without a length or chunks', '\r\nhello'],
  ])('FILE-28 is broken_off when it ends %s', async (_where, text) => {
    expect(await downloadFrom(raw(text))).toBe('broken_off')
  })

  it('FILE-28 is complete when more bytes follow its end', async () => {
    expect(await downloadFrom(raw('content-length: 5\r\n\r\nhello world'))).toBe('hello')
  })
})

describe('a slow file', () => {
  it('FILE-29 times out even if bytes keep arriving', async () => {
    expect(await downloadFrom(trickle, { deadlineMs: 300 })).toBe('timed_out')
    expect(await downloadFrom(flood, { deadlineMs: 300, maxBytes: Number.POSITIVE_INFINITY })).toBe('timed_out')
  })

  it('FILE-29 times out after two minutes when it is not read, and a later reader gets the error', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using server = await startTestTlsServer(trickle)
    const source = await openSource(SOURCE, server.options)
    vi.advanceTimersByTime(119_999)
    expect(source.stream.destroyed).toBe(false)
    vi.advanceTimersByTime(1)
    await new Promise((resolve) => source.stream.once('close', resolve))
    expect((await refusalOf(textOf(source))).reason).toBe('timed_out')
    expect((await refusalOf(finished(source.stream))).reason).toBe('timed_out')
  })

  it('FILE-29 leaves no timer running after its end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    expect(await downloadFrom((_request, response) => response.end('hello'))).toBe('hello')
    expect(vi.getTimerCount()).toBe(0)
    expect(await downloadFrom((_request, response) => response.writeHead(404).end())).toBe('bad_status')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a reader', () => {
  it('T-11 closes the connection when it stops reading', async () => {
    await using server = await startTestTlsServer(flood)
    const { stream } = await openSource(SOURCE, server.options)
    await once(stream, 'data')
    stream.destroy()
    await server.stop()
    expect(stream.destroyed).toBe(true)
  })

  it('T-11 uses little memory when it is slow', { tags: ['nightly'] }, async () => {
    await using server = await startTestTlsServer((_request, response) => response.end(Buffer.alloc(16 * 1024 * 1024)))
    const stream = (await openSource(SOURCE, server.options)).stream as Duplex
    let [held, received] = [0, 0]
    for await (const chunk of stream) {
      received += chunk.length
      for (let turn = 0; turn < 8; turn++) await setImmediate()
      held = Math.max(held, stream.readableLength + stream.writableLength)
    }
    expect(received).toBe(16 * 1024 * 1024)
    expect(held).toBeLessThan(1024 * 1024)
  })
})
