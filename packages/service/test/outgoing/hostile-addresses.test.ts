import type { LookupAddress } from 'node:dns'
import { isPublicAddress } from '@svc/protocol/public-address'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSource } from '../../src/outgoing/open-source.ts'
import { post } from '../../src/outgoing/post.ts'
import { isBlocked, parseSourceUrl, targetProblem } from '../../src/outgoing/public-request.ts'
import { forbiddenUrls, ipv4Forms, ipv6Forms, startTrap, type Trap } from './address-forms.ts'
import { download, mustNotResolve, refusalOf, resolveTo, startTestTlsServer, type TestTlsServer } from './tls-server.ts'

/** This address counts as public here. */
const SERVER = '127.0.0.1'
const REDIRECTS = [301, 302, 303, 307, 308]
const { signal } = new AbortController()

let trap: Trap
let urls: string[]
/** Redirects as its path states: a status, then the target. */
let server: TestTlsServer
let base: string

beforeAll(async () => {
  trap = await startTrap()
  urls = forbiddenUrls(trap.port)
  server = await startTestTlsServer((request, response) => {
    const [, status = '', target = ''] = (request.url as string).split('/')
    if (status === 'end') response.end('hello')
    else
      response.writeHead(Number(status), { location: Buffer.from(decodeURIComponent(target)).toString('latin1') }).end()
  })
  base = `https://files.example.test:${server.options.port}`
})
afterAll(async () => {
  expect(trap.calls()).toBe(0)
  await trap.stop()
})

/** The real checks, except that the server is public. Its port is in its URLs. */
const connecting = (resolve = resolveTo(SERVER)) => {
  const { port: _, ...options } = server.options
  return { ...options, resolve, isPublic: (address: string) => address === SERVER || isPublicAddress(address) }
}

const redirect = (status: number, target: string) => `${base}/${status}/${encodeURIComponent(target)}`
const statusOf = (i: number) => REDIRECTS[i % REDIRECTS.length] as number

describe('an address that is not public', () => {
  it('T-08 is rejected in every notation, by its text, before a lookup or a connection', {
    tags: ['nightly'],
  }, async () => {
    expect(urls.length).toBeGreaterThan(500)
    const options = { resolve: mustNotResolve }
    const message = { headers: {}, body: '' }
    for (const url of urls) {
      expect(isBlocked(await refusalOf(openSource(url, options))), url).toBe(true)
      expect(isBlocked(await refusalOf(post(url, message, options))), url).toBe(true)
      expect(await targetProblem(url, options, signal), url).not.toBeNull()
    }
  })

  it('T-08 is rejected when a name has it, alone or among public ones, at any position', async () => {
    const mixes = ['127.0.0.1', '::1', '169.254.169.254', '::ffff:10.0.0.1', '2002:7f00:1::1'].flatMap((bad) => [
      [bad],
      [bad, '1.1.1.1'],
      ['1.1.1.1', bad],
      ['1.1.1.1', '2606:4700::1111', bad],
    ])
    for (const addresses of mixes) {
      const options = { resolve: resolveTo(...addresses) }
      expect(await download(`https://mixed.example.test:${trap.port}/`, options), addresses.join()).toBe(
        'blocked_address',
      )
    }
  })

  it('T-08 is rejected as the target of each kind of redirect, after one or several valid ones', {
    tags: ['nightly'],
  }, async () => {
    // Targets that are the server itself from here, or cannot be in a header, are excluded.
    const own = ['files.example.test', SERVER]
    const targets = urls.filter((url) => !/[\r\n]/.test(url) && !own.includes(URL.parse(url, base)?.hostname ?? ''))
    const some = targets.filter((_, i) => i % 10 === 0)
    expect(some.length).toBeGreaterThan(50)
    const known = async (host: string) =>
      host === 'files.example.test' ? [{ address: SERVER, family: 4 }] : mustNotResolve(host)
    for (const [i, target] of some.entries()) {
      const once = redirect(statusOf(i), target)
      const url = i % 6 === 0 ? redirect(statusOf(i + 1), redirect(statusOf(i + 2), once)) : once
      const outcome = await download(url, connecting(known))
      expect(['not_https', 'blocked_host', 'blocked_address', 'bad_redirect'], target).toContain(outcome)
    }
  })

  it('T-08 is not reached by changing the answer of a name: each request looks up once and connects there', async () => {
    let lookups = 0
    const rebinding = async (): Promise<LookupAddress[]> => {
      lookups++
      return [{ address: lookups % 2 === 1 ? SERVER : '127.0.0.2', family: 4 }]
    }
    expect(await download(`${base}/end`, connecting(rebinding))).toBe('hello')
    expect(lookups).toBe(1)
    lookups = 0
    expect(await download(redirect(302, '/end'), connecting(rebinding))).toBe('blocked_address')
    expect(lookups).toBe(2)
    lookups = 0
    expect(await post(`${base}/204/x`, { headers: {}, body: '' }, connecting(rebinding))).toBe(204)
    expect(lookups).toBe(1)
  })
})

it('T-08 the same notations of a public address are accepted, so that no URL is rejected for its spelling', () => {
  for (const form of ipv4Forms('93.184.216.34')) {
    expect(parseSourceUrl(`https://${form}/`).hostname, form).toBe('93.184.216.34')
  }
  expect(ipv6Forms('93.184.216.34').filter(isPublicAddress)).toHaveLength(11)
})
