import { type DnsServer, startDnsServer } from '@svc/devnet/dns-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { targetProblem } from '../../src/outgoing/public-request.ts'
import { createResolver, type Resolve } from '../../src/outgoing/resolve.ts'
import { download, mustNotResolve, startTestTlsServer } from './tls-server.ts'

const ZONE: Record<string, string[]> = {
  'both.test': ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'],
  'ipv6.test': ['2606:2800::1'],
  'private.test': ['10.0.0.1'],
  'mixed.test': ['93.184.215.14', '127.0.0.1'],
  'private-ipv6.test': ['93.184.215.14', 'fd00::1'],
  'files.example.test': ['127.0.0.1'],
}

let dns: DnsServer
let resolve: Resolve
const never = new AbortController().signal

beforeAll(async () => {
  dns = await startDnsServer((hostname) => (hostname.startsWith('slow') ? null : (ZONE[hostname] ?? [])))
  resolve = createResolver([dns.address])
})
afterAll(() => dns.stop())

it('T-35 the resolver finds the addresses of both families', async () => {
  expect(await resolve('both.test', never)).toEqual([
    { address: '93.184.215.14', family: 4 },
    { address: '2606:2800:21f:cb07:6820:80da:af6b:8b2c', family: 6 },
  ])
  expect(await resolve('ipv6.test', never)).toEqual([{ address: '2606:2800::1', family: 6 }])
  expect(await resolve('nowhere.test', never)).toEqual([])
})

it('T-35 a lookup ends as soon as its caller cancels it', async () => {
  const gone = new AbortController()
  const lookup = resolve('slow.test', gone.signal).catch((error: unknown) => error)
  await expect.poll(() => dns.asked).toContain('slow.test')
  gone.abort()
  expect(await lookup).toMatchObject({ code: 'ECANCELLED' })
  await expect(resolve('both.test', gone.signal)).rejects.toThrow('aborted')
})

it('T-35 lookups beyond the limit fail instead of waiting, and the others continue', async () => {
  const gone = new AbortController()
  const slow = Array.from({ length: 100 }, (_, i) => resolve(`slow-${i}.test`, gone.signal).catch(() => 'given up'))
  await expect(resolve('both.test', never)).rejects.toThrow('too many')
  gone.abort()
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['given up']))
  expect(await resolve('both.test', never)).toHaveLength(2)
})

it('T-35 a download goes to the address that the name server gave', async () => {
  await using server = await startTestTlsServer((_request, response) => response.end('hello'))
  expect(await download('https://files.example.test/a', { ...server.options, resolve })).toBe('hello')
  expect(await download('https://nowhere.test/a', { ...server.options, resolve })).toBe('unresolvable')
  const gone = new AbortController()
  const waiting = download('https://slow-source.test/a', { ...server.options, resolve, signal: gone.signal })
  await expect.poll(() => dns.asked).toContain('slow-source.test')
  gone.abort()
  expect(await waiting).toBe('cancelled')
  const late = { ...server.options, resolve: mustNotResolve, signal: gone.signal }
  expect(await download('https://files.example.test/a', late)).toBe('cancelled')
})

it('T-08 the resolver reports a URL whose host is not public, by its text and by all of its addresses', async () => {
  const problemOf = (url: string) => targetProblem(url, { resolve }, never)
  for (const host of ['private.test', 'mixed.test', 'private-ipv6.test', '127.0.0.1', '[::1]', 'localhost', '10.1.2.3'])
    expect(await problemOf(`https://${host}/`), host).toMatch(/public/)
  expect(await problemOf('http://both.test/')).toMatch(/https/)
  expect(await problemOf('https://both.test/')).toBeNull()
  expect(await problemOf('https://nowhere.test/')).toBeNull()
})
