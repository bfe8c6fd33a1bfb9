import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type PostOptions, post } from '../src/post.ts'
import { SourceError } from '../src/public-request.ts'
import { mustNotResolve, resolveTo, SOURCE, startTestTlsServer, type TestTlsServer } from './tls-server.ts'

const MESSAGE = { headers: { 'content-type': 'text/plain', 'x-mark': '1' }, body: 'h\u00e9llo' }

/** The status of the response, or why there is none. */
async function send(options: PostOptions, url = SOURCE): Promise<number | string> {
  return post(url, MESSAGE, options).catch((error: unknown) => {
    if (error instanceof SourceError) return error.reason
    throw error
  })
}

async function withServer(
  answer: Parameters<typeof startTestTlsServer>[0],
  work: (server: TestTlsServer) => Promise<void>,
): Promise<void> {
  const server = await startTestTlsServer(answer)
  await work(server)
  await server.stop()
}

afterEach(() => void vi.useRealTimers())

describe('a posted message', () => {
  it('AGENT-04 arrives unchanged with its own headers and only the necessary others', async () => {
    const got: [IncomingMessage, string][] = []
    const answer = async (request: IncomingMessage) => void got.push([request, await text(request)])
    await withServer(
      (request, response) => void answer(request).then(() => response.writeHead(202).end('thanks')),
      async ({ options }) => {
        expect(await send(options, `${SOURCE}?a=b#c`)).toBe(202)
        const [[request, body]] = got as [[IncomingMessage, string]]
        expect([request.method, request.url, body]).toEqual(['POST', '/report.pdf?a=b', MESSAGE.body])
        expect(request.headers).toEqual({
          host: 'files.example.test',
          connection: 'close',
          'content-length': '6',
          ...MESSAGE.headers,
        })
      },
    )
  })

  it.each([200, 204, 302, 307, 404, 410, 500])(
    'AGENT-04 T-08 returns status %i and follows no redirect',
    async (status) => {
      await withServer(
        (_request, response) => response.writeHead(status, { location: 'https://other.example.test/' }).end(),
        async ({ options, asked }) => {
          expect(await send(options)).toBe(status)
          expect(asked).toEqual(['files.example.test/report.pdf'])
        },
      )
    },
  )

  it.each([
    ['http://files.example.test/', 'not_https'],
    ['https://user:word@files.example.test/', 'not_https'],
    ['https://files.example.test:25/', 'blocked_host'],
    ['https://localhost/', 'blocked_host'],
    ['https://metadata.example.test/', 'blocked_host'],
    ['https://127.0.0.1/', 'blocked_address'],
    ['https://[::1]/', 'blocked_address'],
    ['https://0x7f.1/', 'blocked_address'],
  ])('T-08 is not sent to %s', async (url, reason) => {
    expect(await send({ resolve: mustNotResolve }, url)).toBe(reason)
  })

  it.each([[['10.0.0.1']], [['169.254.169.254']], [['1.1.1.1', '127.0.0.1']], [['::ffff:10.0.0.1']]])(
    'T-08 is not sent to a host whose addresses are %s',
    async (addresses) => {
      await withServer(
        (_request, response) => response.end(),
        async ({ options: { isPublic: _, ...options }, asked }) => {
          expect(await send({ ...options, resolve: resolveTo(...addresses) })).toBe('blocked_address')
          expect(asked).toEqual([])
        },
      )
    },
  )

  it('T-11 fails when the host is silent or cannot be reached', async () => {
    await withServer(
      () => {},
      async ({ options }) => {
        expect(await send({ ...options, deadlineMs: 50 })).toBe('timed_out')
        expect(await send({ ...options, resolve: () => new Promise(() => {}), deadlineMs: 50 })).toBe('timed_out')
      },
    )
    await withServer(
      (request) => request.socket.destroy(),
      async ({ options }) => {
        expect(await send(options)).toBe('unreachable')
        const { ca: _, ...unknown } = options
        expect(await send(unknown)).toBe('tls_failed')
      },
    )
  })

  it('T-11 returns the status even if the rest of the response is long or broken', async () => {
    const closed: Promise<unknown>[] = []
    await withServer(
      (_request, response) => {
        closed.push(once(response, 'close'))
        const writeAll = () => {
          while (response.write(Buffer.alloc(16_384)));
        }
        response.writeHead(200).on('drain', writeAll)
        writeAll()
      },
      async ({ options }) => {
        expect(await send(options)).toBe(200)
        await Promise.all(closed)
      },
    )
    await withServer(
      (_request, response) => response.writeHead(200).write('and', () => response.destroy()),
      async ({ options }) => expect(await send(options)).toBe(200),
    )
  })

  it('T-11 returns the status at the deadline when the rest of the response does not come', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const begun = Promise.withResolvers<void>()
    const notice = () => begun.resolve()
    subscribe('http.client.response.finish', notice)
    onTestFinished(() => void unsubscribe('http.client.response.finish', notice))
    await withServer(
      (_request, response) => void response.writeHead(200).write('and'),
      async ({ options }) => {
        const sending = send(options)
        await begun.promise
        vi.advanceTimersByTime(10_000)
        expect(await sending).toBe(200)
      },
    )
  })
})
