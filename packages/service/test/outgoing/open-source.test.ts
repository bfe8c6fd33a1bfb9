import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, it } from 'vitest'
import { openSource } from '../../src/outgoing/open-source.ts'
import { download, mustNotResolve, refusalOf, resolveTo, SOURCE, startTestTlsServer, textOf } from './tls-server.ts'

const startGreeter = () => startTestTlsServer((_request, response) => response.end('hello'))

describe('a source', () => {
  it('FILE-26 is opened with its type, size and address', async () => {
    await using server = await startTestTlsServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/pdf', 'content-length': 5 }).end('hello'),
    )
    const source = await openSource(`${SOURCE}?page=1#top`, server.options)
    expect(await textOf(source)).toBe('hello')
    expect(source).toMatchObject({ contentType: 'application/pdf', size: 5, finalUrl: `${SOURCE}?page=1` })
    expect(server.requests).toEqual(['files.example.test/report.pdf?page=1'])
  })

  it('FILE-26 may send no type and no size', async () => {
    await using server = await startTestTlsServer((_request, response) => {
      response.write('hel')
      response.end('lo')
    })
    const source = await openSource(SOURCE, server.options)
    expect(await textOf(source)).toBe('hello')
    expect(source).toMatchObject({ contentType: null, size: null })
  })

  it('T-08 receives only its host and path, on a connection of its own', async () => {
    const headers: IncomingHttpHeaders[] = []
    const ports = new Set<number | undefined>()
    await using server = await startTestTlsServer((request, response) => {
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
  })

  it('FILE-26 may be named by a public address that its certificate covers', async () => {
    await using server = await startGreeter()
    expect(await download('https://127.0.0.1/', { ...server.options, resolve: mustNotResolve })).toBe('hello')
  })
})

describe('the addresses of a host', () => {
  it('FILE-26 are tried one after the other', async () => {
    await using server = await startGreeter()
    const resolve = resolveTo('::1', '127.0.0.2', '127.0.0.1')
    expect(await download(SOURCE, { ...server.options, resolve })).toBe('hello')
  })

  it.each([
    ['private', ['10.0.0.1']],
    ['link-local with a zone', ['fe80::1%eth0']],
    ['no addresses', ['localhost']],
  ])('FILE-27 T-08 are neither connected to nor reported when they are %s', async (_which, addresses) => {
    await using server = await startGreeter()
    const { ca, port } = server.options
    const error = await refusalOf(openSource(SOURCE, { ...(ca && { ca }), port, resolve: resolveTo(...addresses) }))
    expect(error.reason).toBe('blocked_address')
    for (const address of addresses) expect(error.message).not.toContain(address)
    expect(server.requests).toEqual([])
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
