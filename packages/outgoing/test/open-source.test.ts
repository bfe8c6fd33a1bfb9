import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { openSource, type SourceOptions } from '../src/open-source.ts'
import {
  download,
  mustNotResolve,
  refusalOf,
  resolveTo,
  SOURCE,
  startTestTlsServer,
  type TestTlsServer,
  textOf,
} from './tls-server.ts'

async function withServer(work: (server: TestTlsServer) => Promise<void>): Promise<void> {
  const server = await startTestTlsServer((_request, response) => response.end('hello'))
  await work(server)
  await server.stop()
}

describe('a source', () => {
  it('FILE-26 is opened with its type, size and address', async () => {
    const server = await startTestTlsServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': 5 }).end('hello'),
    )
    const source = await openSource(`${SOURCE}?page=1#top`, server.options)
    expect(await textOf(source)).toBe('hello')
    expect(source).toMatchObject({ contentType: 'application/pdf', size: 5, finalUrl: `${SOURCE}?page=1` })
    expect(server.asked).toEqual(['files.example.test/report.pdf?page=1'])
    await server.stop()
  })

  it('FILE-26 may have a port of its own', async () => {
    await withServer(async ({ options: { port, ...options }, asked }) => {
      expect(await textOf(await openSource(`https://files.example.test:${port}/`, options))).toBe('hello')
      expect(asked).toEqual([`files.example.test:${port}/`])
    })
  })

  it('FILE-26 may send no type and no size', async () => {
    const server = await startTestTlsServer((_request, response) => {
      response.write('hel')
      response.end('lo')
    })
    const source = await openSource(SOURCE, server.options)
    expect(await textOf(source)).toBe('hello')
    expect(source).toMatchObject({ contentType: null, size: null })
    await server.stop()
  })

  it('FILE-26 may be empty', async () => {
    const server = await startTestTlsServer((_request, response) =>
      response.writeHead(200, { 'content-length': 0 }).end(),
    )
    const source = await openSource(SOURCE, server.options)
    expect([source.size, await textOf(source)]).toEqual([0, ''])
    await server.stop()
  })

  it('T-08 receives only its host and path, on a connection of its own', async () => {
    const headers: IncomingHttpHeaders[] = []
    const ports = new Set<number | undefined>()
    const server = await startTestTlsServer((request, response) => {
      headers.push(request.headers)
      ports.add(request.socket.remotePort)
      response.setHeader('set-cookie', 'session=1')
      response.end('hello')
    })
    for (let i = 0; i < 2; i++) await download(SOURCE, server.options)
    const sent = {
      host: 'files.example.test',
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'svc-gateway',
      connection: 'close',
    }
    expect(headers).toEqual([sent, sent])
    expect(ports.size).toBe(2)
    await server.stop()
  })

  it('FILE-26 may be named by a public address that its certificate covers', async () => {
    await withServer(async ({ options }) => {
      expect(await download('https://127.0.0.1/', { ...options, resolve: mustNotResolve })).toBe('hello')
    })
  })
})

describe('the addresses of a host', () => {
  it('T-08 are looked up once, and the connection uses the result', async () => {
    await withServer(async ({ options }) => {
      const hostnames: string[] = []
      const judged: string[] = []
      const rebinding: SourceOptions = {
        ...options,
        async resolve(hostname) {
          hostnames.push(hostname)
          return [{ address: hostnames.length === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
        },
        isPublic(address) {
          judged.push(address)
          return true
        },
      }
      expect(await download(SOURCE, rebinding)).toBe('hello')
      expect(hostnames).toEqual(['files.example.test'])
      expect(judged).toEqual(['127.0.0.1'])
    })
  })

  it('FILE-26 are tried one after the other', async () => {
    await withServer(async ({ options }) => {
      const resolve = resolveTo('::1', '127.0.0.2', '127.0.0.1')
      expect(await download(SOURCE, { ...options, resolve })).toBe('hello')
    })
  })

  it.each([
    ['private', ['10.0.0.1']],
    ['those of a metadata server', ['169.254.169.254']],
    ['those of this machine', ['127.0.0.1', '::1']],
    ['first public, then private', ['1.1.1.1', '192.168.0.1']],
    ['first private, then public', ['192.168.0.1', '1.1.1.1']],
    ['public in IPv4 and local in IPv6', ['1.1.1.1', 'fd00:ec2::254']],
    ['mapped', ['::ffff:10.0.0.1']],
    ['link-local with a zone', ['fe80::1%eth0']],
    ['behind NAT64', ['64:ff9b::a00:1']],
    ['no addresses', ['localhost']],
  ])('FILE-27 T-08 are neither connected to nor reported when they are %s', async (_which, addresses) => {
    await withServer(async ({ options: { ca, port }, asked }) => {
      const error = await refusalOf(openSource(SOURCE, { ...(ca && { ca }), port, resolve: resolveTo(...addresses) }))
      expect(error.reason).toBe('blocked_address')
      for (const address of addresses) expect(error.message).not.toContain(address)
      expect(asked).toEqual([])
    })
  })

  it('FILE-28 make the source unresolvable when there are none', async () => {
    expect(await download(SOURCE, { resolve: resolveTo() })).toBe('unresolvable')
    const error = await refusalOf(
      openSource(SOURCE, { resolve: () => Promise.reject(new Error('10.0.0.53 refused the query')) }),
    )
    expect(error.reason).toBe('unresolvable')
    expect(error.message).not.toContain('10.0.0.53')
  })

  it('FILE-28 are looked up by the system by default', async () => {
    // The label is too long for a name, so no server is asked.
    expect(await download(`https://${'a'.repeat(64)}.example.test/`, {})).toBe('unresolvable')
  })

  it('FILE-29 make the source time out when their lookup takes too long', async () => {
    expect(await download(SOURCE, { resolve: () => new Promise(() => {}), deadlineMs: 20 })).toBe('timed_out')
  })
})
