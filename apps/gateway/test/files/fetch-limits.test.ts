import { openSource } from '@svc/outgoing/open-source'
import { SOURCE, startTestTlsServer } from '@svc/outgoing/test/tls-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse } from '../auth/lockers.ts'
import { type ErrorReply, manifestOf } from './confirm/confirm.ts'

/** With the real network client. */
let house: LockerHouse
beforeAll(async () => {
  house = await openLockerHouse()
})
afterAll(() => house.close())

async function openLocker(at: LockerHouse) {
  const locker = await at.locker(ed25519Identity())
  const { receiptId, lockerId, owner } = locker
  const call = { method: 'POST', path: '/v1/files/fetch-and-store', ops: ['locker:write'], receiptId, lockerId }
  return {
    locker,
    fetchAndStore: (source_url: string) => at.call<ErrorReply>(owner, { ...call, body: { source_url } }),
  }
}

it.each([
  'http://files.example.com/a',
  'ftp://files.example.com/a',
  'file:///etc/passwd',
  'not a url',
  '',
  'https://localhost/a',
  'https://127.0.0.1/a',
  'https://2130706433/a',
  'https://0x7f.1/a',
  'https://10.1.2.3/a',
  'https://169.254.169.254/latest/meta-data/',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://[::1]/a',
  'https://[::ffff:10.0.0.1]/a',
  'https://[fd00::1]/a',
  'https://user:secret@files.example.com/a',
  'https://files.example.com:8443/a',
])('FILE-27 FILE-28 T-08 %s is blocked, and nothing is stored', async (source_url) => {
  const { locker, fetchAndStore } = await openLocker(house)
  const refused = await fetchAndStore(source_url)
  expectRefusal(refused, 422, 'validation_error')
  expect(refused.body.detail[0]?.loc).toEqual(['body', 'source_url'])
  expect(JSON.stringify(refused.body)).not.toContain('secret')
  expect(await manifestOf(locker)).toMatchObject({ manifest_version: 0, files: [] })
})

it('LIM-11 T-10 fetching has a limit, counted before anything is fetched', async () => {
  const server = await startTestTlsServer((_request, response) => response.end('hello'))
  const fetchSource = (url: string) => openSource(url, server.options)
  const limited = await openLockerHouse({ RATE_LIMIT_SIGNER: '1' }, { fetchSource })
  const { fetchAndStore } = await openLocker(limited)
  expect((await fetchAndStore(SOURCE)).status).toBe(200)
  const refused = await fetchAndStore(SOURCE)
  expectRefusal(refused, 429, 'RATE_LIMITED')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(server.asked).toHaveLength(1)
  await limited.close()
  await server.stop()
})
