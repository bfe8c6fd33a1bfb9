import { startDnsServer } from '@svc/devnet/dns-server'
import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { openSource } from '@svc/service/outgoing/open-source'
import { createResolver } from '@svc/service/outgoing/resolve'
import { forbiddenUrls, startTrap } from '@svc/service/test/outgoing/address-forms'
import { SOURCE, startTestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { expect, it, onTestFinished } from 'vitest'
import type { Overrides } from '../../src/context.ts'
import { type ErrorReply, manifestOf } from './confirm/confirm.ts'

/** With the real network client. */
const plain = forAllTests(openTestGateway)

async function openLocker(at: TestGateway) {
  const locker = await at.locker(ed25519Identity())
  const { receiptId, lockerId, owner } = locker
  const call = { method: 'POST', path: '/v1/files/fetch-and-store', ops: ['locker:write'], receiptId, lockerId }
  return {
    locker,
    fetchAndStore: (source_url: string) => at.call<ErrorReply>(owner, { ...call, body: { source_url } }),
  }
}

it('FILE-27 FILE-28 the gateway fetches no private address in any notation, and only https', async () => {
  const trap = await startTrap()
  onTestFinished(trap.stop)
  const { locker, fetchAndStore } = await openLocker(plain)
  const others = ['http://files.example.com/a', 'not a url', '', 'https://user:secret@files.example.com/a']
  for (const source_url of [...forbiddenUrls(trap.port).filter((_, i) => i % 20 === 0), ...others]) {
    const refused = await fetchAndStore(source_url)
    expectRefusal(refused, 422, 'validation_error')
    expect(refused.body.detail[0]?.loc).toEqual(['body', 'source_url'])
    expect(JSON.stringify(refused.body)).not.toContain('secret')
  }
  expect(trap.calls()).toBe(0)
  expect(await manifestOf(locker)).toMatchObject({ manifest_version: 0, files: [] })
})

it('LIM-11 T-10 fetching has a rate limit, counted before anything is fetched', async () => {
  const server = await startTestTlsServer((_request, response) => response.end('hello'))
  onTestFinished(server.stop)
  const fetchSource = (url: string) => openSource(url, server.options)
  const limited = await openTestGateway({ RATE_LIMITS: 'signer=1/min' }, { fetchSource })
  onTestFinished(limited.close)
  const { fetchAndStore } = await openLocker(limited)
  expect((await fetchAndStore(SOURCE)).status).toBe(200)
  const refused = await fetchAndStore(SOURCE)
  expectRefusal(refused, 429, 'RATE_LIMITED')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(server.requests).toHaveLength(1)
})

/** Never answers for names that begin with "slow". */
const dns = forAllTests(() => startDnsServer((hostname) => (hostname.startsWith('slow') ? null : ['127.0.0.1'])))
const server = forAllTests(() => startTestTlsServer((_request, response) => response.end('hello')))
const instance = forAllTests(() => {
  const resolve = createResolver([dns.address])
  const fetchSource: Overrides['fetchSource'] = (url, maxBytes, signal) =>
    openSource(url, { ...server.options, resolve, maxBytes, signal })
  return openTestGateway({ FILE_LIMITS: 'fetch_process=6' }, { fetchSource })
})

/** Begins a fetch that the caller can hang up. */
function beginFetch({ owner, receiptId, lockerId }: TestLocker, source_url: string, signal?: AbortSignal) {
  const path = '/v1/files/fetch-and-store'
  const body = { source_url, filename: 'fetched.txt' }
  const signed = instance.sign(owner, { method: 'POST', path, body, ops: ['locker:write'], receiptId, lockerId })
  return fetch(instance.gateway.url + path, {
    method: 'POST',
    headers: { ...signed.headers, 'content-type': 'application/json' },
    body: signed.body as BodyInit,
    ...(signal && { signal }),
  })
}

/** Begins sixteen fetches from names that never resolve. Returns how many were refused, and which wait. */
async function beginSlowFetches(locker: TestLocker, prefix: string, signal: AbortSignal) {
  let settled = 0
  const refused: Response[] = []
  const all = Array.from({ length: 16 }, (_, i) =>
    beginFetch(locker, `https://slow-${prefix}-${i}.test/a`, signal)
      .then(
        (response) => refused.push(response),
        () => {},
      )
      .finally(() => settled++),
  )
  return { refused, settled: () => settled, done: Promise.all(all) }
}

const waiting = (prefix: string) => new Set(dns.asked.filter((name) => name.startsWith(`slow-${prefix}-`))).size

it('T-35 an owner who names slow hosts gets only a few concurrent fetches, and delays no other owner', async () => {
  const locker = await instance.locker(ed25519Identity())
  const otherOwner = await instance.locker(ed25519Identity())
  const gone = new AbortController()
  const slow = await beginSlowFetches(locker, 'a', gone.signal)
  await expect.poll(slow.settled).toBe(12)
  for (const response of slow.refused) {
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await response.json()).toMatchObject({ error: 'RATE_LIMITED', details: { layer: 'gateway' } })
  }
  expect(waiting('a')).toBe(4)
  expect((await beginFetch(otherOwner, SOURCE)).status).toBe(200)
  expect(slow.settled(), 'the four still wait').toBe(12)
  gone.abort()
  await slow.done
  await expect.poll(async () => (await beginFetch(locker, SOURCE)).status).toBe(200)
})

it('T-35 an owner who names slow hosts shares one limit for all fetches with other owners', async () => {
  const lockers = await Promise.all([1, 2].map(() => instance.locker(ed25519Identity())))
  const gone = new AbortController()
  const slow = await Promise.all(lockers.map((locker, i) => beginSlowFetches(locker, `b${i}`, gone.signal)))
  await expect.poll(() => waiting('b0') + waiting('b1')).toBe(6)
  const third = await instance.locker(ed25519Identity())
  expect((await beginFetch(third, SOURCE)).status).toBe(429)
  gone.abort()
  await Promise.all(slow.map(({ done }) => done))
  await expect.poll(async () => (await beginFetch(third, SOURCE)).status).toBe(200)
})
