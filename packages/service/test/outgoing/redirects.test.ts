import type { RequestListener } from 'node:http'
import { isPublicAddress } from '@svc/protocol/public-address'
import { describe, expect, it } from 'vitest'
import { openSource } from '../../src/outgoing/open-source.ts'
import { download, downloadFrom, SOURCE, startTestTlsServer, textOf } from './tls-server.ts'

/** This address counts as public here. */
const SERVER = '127.0.0.1'

const redirectTo =
  (location: string, status = 302): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { location }).end('moved')

/** Redirects `/3` to `/2`, `/2` to `/1`, and so on. */
const countdown: RequestListener = (request, response) => {
  const left = Number(request.url!.slice(1))
  if (left === 0) response.end('hello')
  else response.writeHead(302, { location: `/${left - 1}` }).end()
}

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('FILE-26 is followed when its status is %d', async (status) => {
    await using server = await startTestTlsServer((request, response) =>
      request.url === '/here' ? response.end('hello') : redirectTo('/here', status)(request, response),
    )
    expect(await download(SOURCE, server.options)).toBe('hello')
    expect(server.requests).toEqual(['files.example.test/report.pdf', 'files.example.test/here'])
  })

  it.each([
    ['here.pdf?a=b#top', 'https://files.example.test/a/here.pdf?a=b'],
    ['../here.pdf', 'https://files.example.test/here.pdf'],
    ['//other.example.test/here.pdf', 'https://other.example.test/here.pdf'],
    ['https://other.example.test', 'https://other.example.test/'],
    [Buffer.from('/bücher').toString('latin1'), 'https://files.example.test/b%C3%BCcher'],
  ])('FILE-26 resolves the target %s to %s', async (location, finalUrl) => {
    await using server = await startTestTlsServer((request, response) =>
      request.url === '/a/b' ? redirectTo(location)(request, response) : response.end('hello'),
    )
    const source = await openSource('https://files.example.test/a/b', server.options)
    expect([source.finalUrl, await textOf(source)]).toEqual([finalUrl, 'hello'])
  })

  it('T-08 is followed at most three times', async () => {
    await using server = await startTestTlsServer(countdown)
    expect(await download('https://files.example.test/3', server.options)).toBe('hello')
    expect(await download('https://files.example.test/4', server.options)).toBe('too_many_redirects')
    expect(server.requests.slice(4)).toEqual(['4', '3', '2', '1'].map((path) => `files.example.test/${path}`))
  })

  it.each([
    ['http://files.example.test/', 'not_https'],
    ['https://user:password@files.example.test/', 'not_https'],
    ['/\\other.example.test/', 'not_https'],
    ['https://localhost/', 'blocked_host'],
    ['https://169.254.169.254/', 'blocked_address'],
    ['https://private.example.test/', 'blocked_address'],
    ['https://gone.example.test/', 'unresolvable'],
    ['https://wrong.example.test/', 'tls_failed'],
    ['https://[', 'bad_redirect'],
    ['', 'bad_redirect'],
  ])('FILE-27 T-08 is checked like the first URL when its target is %j: %s', async (location, reason) => {
    const addresses: Record<string, string[]> = {
      'files.example.test': [SERVER],
      'wrong.example.test': [SERVER],
      'private.example.test': ['1.1.1.1', '10.0.0.1'],
    }
    const checks = {
      resolve: async (host: string) => (addresses[host] ?? []).map((address) => ({ address, family: 4 })),
      isPublic: (address: string) => address === SERVER || isPublicAddress(address),
    }
    await using server = await startTestTlsServer(redirectTo(location))
    expect(await download(SOURCE, { ...server.options, ...checks })).toBe(reason)
    expect(server.requests).toEqual(['files.example.test/report.pdf'])
  })

  it('T-11 closes its connection before the next request, even if its response does not end', async () => {
    const left = Promise.withResolvers<void>()
    await using server = await startTestTlsServer(async (request, response) => {
      if (request.url === '/report.pdf') {
        response.once('close', left.resolve).writeHead(302, { location: '/here' }).flushHeaders()
      } else {
        await left.promise
        response.end('hello')
      }
    })
    expect(await download(SOURCE, server.options)).toBe('hello')
  })

  it('FILE-28 is a bad_redirect when it has no target', async () => {
    expect(await downloadFrom((_request, response) => response.writeHead(302).end())).toBe('bad_redirect')
  })

  it('FILE-29 counts against the same deadline', async () => {
    await using server = await startTestTlsServer((request, response) => {
      if (request.url === '/report.pdf') redirectTo('/slow')(request, response)
    })
    expect(await download(SOURCE, { ...server.options, deadlineMs: 300 })).toBe('timed_out')
  })
})
