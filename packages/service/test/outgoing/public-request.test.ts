import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openSource } from '../../src/outgoing/open-source.ts'
import { PUBLIC_TEST_CA, PUBLIC_TEST_EXPIRED_CERTIFICATE, PUBLIC_TEST_SELF_SIGNED_CERTIFICATE } from './certificates.ts'
import {
  download,
  downloadFrom,
  refusalOf,
  resolveTo,
  SOURCE,
  startTestTlsServer,
  type TestTlsServer,
} from './tls-server.ts'

const startGreeter = (certificate?: string): Promise<TestTlsServer> =>
  startTestTlsServer((_request, response) => response.end('hello'), certificate)

/** The outcome of a download from a host that treats connections like this. */
async function downloadFromHost(connected: (socket: Socket) => void, deadlineMs?: number): Promise<string> {
  const server = createServer((socket) => connected(socket.on('error', () => {}).resume()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outcome = await download(SOURCE, {
    resolve: resolveTo('127.0.0.1'),
    isPublic: () => true,
    ca: PUBLIC_TEST_CA,
    port: (server.address() as AddressInfo).port,
    ...(deadlineMs && { deadlineMs }),
  })
  server.close()
  await once(server, 'close')
  return outcome
}

describe('the certificate of a source', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('T-08 must be for its name', async () => {
    await using server = await startGreeter()
    const fetchFrom = (host: string) => download(`https://${host}/`, server.options)
    expect(await fetchFrom('files.example.test')).toBe('hello')
    expect(await fetchFrom('other.example.test')).toBe('hello')
    expect(await fetchFrom('wrong.example.test')).toBe('tls_failed')
    expect(await fetchFrom('files.example.test.wrong.test')).toBe('tls_failed')
    expect(server.requests).toEqual(['files.example.test/', 'other.example.test/'])
  })

  it.each([
    ['is self-signed', PUBLIC_TEST_SELF_SIGNED_CERTIFICATE],
    ['has expired', PUBLIC_TEST_EXPIRED_CERTIFICATE],
  ])('T-08 is rejected when it %s', async (_fault, certificate) => {
    await using server = await startGreeter(certificate)
    expect(await download(SOURCE, server.options)).toBe('tls_failed')
    expect(server.requests).toEqual([])
  })

  it('T-08 is rejected when its authority is unknown', async () => {
    await using server = await startGreeter()
    const { ca: _unknown, ...options } = server.options
    expect(await download(SOURCE, options)).toBe('tls_failed')
  })

  it('T-08 is checked even when the environment disables checks', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    await using server = await startGreeter(PUBLIC_TEST_SELF_SIGNED_CERTIFICATE)
    expect(await download(SOURCE, server.options)).toBe('tls_failed')
  })
})

describe('the host of a source', () => {
  it('FILE-28 is unreachable when nothing listens there, and the error does not name its address', async () => {
    const { options, stop } = await startGreeter()
    await stop()
    const error = await refusalOf(openSource(SOURCE, options))
    expect(error.reason).toBe('unreachable')
    expect(error.message).not.toMatch(/127\.0|\d{4}|ECONN/)
  })

  it('FILE-28 is unreachable when it closes the connection', async () => {
    expect(await downloadFrom((request) => request.socket.destroy())).toBe('unreachable')
  })

  it('FILE-28 fails when it does not speak TLS', async () => {
    expect(await downloadFromHost((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'))).toBe('tls_failed')
    expect(await downloadFromHost((socket) => socket.destroy())).toBe('tls_failed')
  })

  it.each([
    ['something else', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\ncontent-length: 5\r\n\r\nhello`],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
  ])('FILE-28 fails when it answers with %s', async (_what, text) => {
    expect(await downloadFrom((request) => request.socket.end(text))).toBe('unreachable')
  })

  it('FILE-29 times out when it accepts connections and sends nothing', async () => {
    expect(await downloadFromHost(() => {}, 100)).toBe('timed_out')
  })

  it('FILE-29 times out when its response does not arrive, or arrives one header at a time', async () => {
    expect(await downloadFrom(() => {}, { deadlineMs: 100 })).toBe('timed_out')
    const dripping = downloadFrom(
      ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const drip = setInterval(() => socket.write('x: y\r\n'), 5)
        socket.once('close', () => clearInterval(drip))
      },
      { deadlineMs: 200 },
    )
    expect(await dripping).toBe('timed_out')
  })
})
