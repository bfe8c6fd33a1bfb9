import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type PostOptions, post } from '../../src/outgoing/post.ts'
import { SourceError } from '../../src/outgoing/public-request.ts'
import { resolveTo, SOURCE, startTestTlsServer } from './tls-server.ts'

const MESSAGE = { headers: { 'content-type': 'text/plain', 'x-mark': '1' }, body: 'h\u00e9llo' }

/** The status of the response, or the reason why there is none. */
async function send(options: PostOptions, url = SOURCE): Promise<number | string> {
  return post(url, MESSAGE, options).catch((error: unknown) => {
    if (error instanceof SourceError) return error.reason
    throw error
  })
}

afterEach(() => void vi.useRealTimers())

describe('a posted message', () => {
  it('AGENT-04 arrives unchanged with its own headers and only the necessary others', async () => {
    const got: [IncomingMessage, string][] = []
    await using server = await startTestTlsServer(async (request, response) => {
      got.push([request, await text(request)])
      response.writeHead(202).end('thanks')
    })
    expect(await send(server.options, `${SOURCE}?a=b#c`)).toBe(202)
    const [[request, body]] = got as [[IncomingMessage, string]]
    expect([request.method, request.url, body]).toEqual(['POST', '/report.pdf?a=b', MESSAGE.body])
    const necessary = { host: 'files.example.test', connection: 'close', 'content-length': '6' }
    expect(request.headers).toEqual({ ...necessary, ...MESSAGE.headers })
  })

  it.each([204, 307, 410, 500])('AGENT-04 T-08 returns status %i without following a redirect', async (status) => {
    await using server = await startTestTlsServer((_request, response) =>
      response.writeHead(status, { location: 'https://other.example.test/' }).end(),
    )
    expect(await send(server.options)).toBe(status)
    expect(server.requests).toEqual(['files.example.test/report.pdf'])
  })

  it('T-08 is not sent to a host that has an address that is not public', async () => {
    await using server = await startTestTlsServer((_request, response) => response.end())
    const { isPublic: _, ...options } = server.options
    expect(await send({ ...options, resolve: resolveTo('1.1.1.1', '10.0.0.1') })).toBe('blocked_address')
    expect(server.requests).toEqual([])
  })

  it('T-11 fails when the host is silent or cannot be reached', async () => {
    await using silent = await startTestTlsServer(() => {})
    expect(await send({ ...silent.options, deadlineMs: 50 })).toBe('timed_out')
    expect(await send({ ...silent.options, resolve: () => new Promise(() => {}), deadlineMs: 50 })).toBe('timed_out')
    await using closing = await startTestTlsServer((request) => request.socket.destroy())
    expect(await send(closing.options)).toBe('unreachable')
    const { ca: _, ...unknown } = closing.options
    expect(await send(unknown)).toBe('tls_failed')
  })

  it('T-11 returns the status even if the rest of the response is long or broken', async () => {
    const closed: Promise<unknown>[] = []
    await using endless = await startTestTlsServer((_request, response) => {
      closed.push(once(response, 'close'))
      const writeAll = () => {
        while (response.write(Buffer.alloc(16_384)));
      }
      response.writeHead(200).on('drain', writeAll)
      writeAll()
    })
    expect(await send(endless.options)).toBe(200)
    await Promise.all(closed)
    await using broken = await startTestTlsServer((_request, response) =>
      response.writeHead(200).write('and', () => response.destroy()),
    )
    expect(await send(broken.options)).toBe(200)
  })

  it('T-11 returns the status at the deadline when the rest of the response does not arrive', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const begun = Promise.withResolvers<void>()
    const notice = () => begun.resolve()
    subscribe('http.client.response.finish', notice)
    onTestFinished(() => void unsubscribe('http.client.response.finish', notice))
    await using server = await startTestTlsServer((_request, response) => void response.writeHead(200).write('and'))
    const sending = send(server.options)
    await begun.promise
    vi.advanceTimersByTime(10_000)
    expect(await sending).toBe(200)
  })
})
