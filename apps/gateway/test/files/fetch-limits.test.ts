import { forAllTests } from '@svc/devnet/for-tests'
import { openSource } from '@svc/outgoing/open-source'
import { forbiddenUrls, startTrap } from '@svc/outgoing/test/address-forms'
import { SOURCE, startTestTlsServer } from '@svc/outgoing/test/tls-server'
import { ed25519Identity, expectRefusal, openTestGateway, type TestGateway } from '@svc/testbed/test-gateway'
import { expect, it, onTestFinished } from 'vitest'
import { type ErrorReply, manifestOf } from './confirm/confirm.ts'

/** With the real network client. */
const house = forAllTests(openTestGateway)

async function openLocker(at: TestGateway) {
  const locker = await at.locker(ed25519Identity())
  const { receiptId, lockerId, owner } = locker
  const call = { method: 'POST', path: '/v1/files/fetch-and-store', ops: ['locker:write'], receiptId, lockerId }
  return {
    locker,
    fetchAndStore: (source_url: string) => at.call<ErrorReply>(owner, { ...call, body: { source_url } }),
  }
}

it('FILE-27 FILE-28 T-08 T-124 no address of our network, in any notation, and nothing but https is fetched', async () => {
  const trap = await startTrap()
  onTestFinished(trap.stop)
  const { locker, fetchAndStore } = await openLocker(house)
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

it('LIM-11 T-10 fetching has a limit, counted before anything is fetched', async () => {
  const server = await startTestTlsServer((_request, response) => response.end('hello'))
  onTestFinished(server.stop)
  const fetchSource = (url: string) => openSource(url, server.options)
  const limited = await openTestGateway({ RATE_LIMIT_SIGNER: '1' }, { fetchSource })
  onTestFinished(limited.close)
  const { fetchAndStore } = await openLocker(limited)
  expect((await fetchAndStore(SOURCE)).status).toBe(200)
  const refused = await fetchAndStore(SOURCE)
  expectRefusal(refused, 429, 'RATE_LIMITED')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(server.asked).toHaveLength(1)
})
