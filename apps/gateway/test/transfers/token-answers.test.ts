import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { createLog } from '@svc/http-service/log'
import { ed25519Identity, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { listed } from './sessions/sessions.ts'
import { createFile, errorOf, leftovers, tokenOf } from './transfers.ts'

let logged = ''
const write = (line: string) => {
  logged += line
}
const log = createLog('debug', { write, writeSoon: write, flush: () => {} })
const house = forAllTests(() => openTestGateway({}, { log }))
const locker = forEachTest(() => house.locker(ed25519Identity()))
const urls = forEachTest(async () => {
  await locker.put('a.txt', 'hello')
  return createFile(house, locker, 'a.txt')
})

it('T-07 FILE-31 every answer of a short URL forbids caching and Referer, and an error says what to do next', async () => {
  const garbage = `${house.gateway.url}/f/AAAA`
  const headers = { 'content-type': 'text/plain' }
  for (const [url, method] of [
    [urls.download, 'GET'],
    [urls.download, 'HEAD'],
    [urls.upload, 'PUT'],
    [garbage, 'GET'],
    [garbage, 'PUT'],
    [garbage, 'DELETE'],
    [`${urls.upload}?proxy=1&proxy=2`, 'PUT'],
    [urls.remove, 'DELETE'],
    [urls.download, 'GET'],
  ] as const) {
    const { status, headers: got } = await fetch(url, { method, headers })
    const policy = [got.get('cache-control'), got.get('referrer-policy'), got.get('access-control-allow-origin')]
    expect([method, status, ...policy]).toEqual([method, status, 'private, no-store', 'no-referrer', '*'])
  }
  for (const [url, method] of [
    [garbage, 'PATCH'],
    [`${house.gateway.url}/f/%zz`, 'GET'],
    [`${house.gateway.url}/f/`, 'GET'],
  ] as const) {
    const { headers: got } = await fetch(url, { method })
    expect([got.get('cache-control'), got.get('referrer-policy')]).toEqual(['no-store', 'no-referrer'])
  }
  const { details } = (await (await fetch(garbage)).json()) as { details: Record<string, string> }
  expect(details).toEqual({
    layer: 'gateway',
    recovery_hint: expect.any(String),
    next_best_method: expect.stringContaining('/v1/lockers/'),
  })
})

it('T-12 T-31 no log line and no error contains a token or a storage path', async () => {
  const tokens = [urls.download, urls.upload, urls.remove].map(tokenOf)
  const secrets = [...tokens, house.gateway.context.config.storage.localFolder]
  const bodies: string[] = []
  for (const url of [urls.download, urls.upload, urls.remove].flatMap((url) => [`${url}A`, url])) {
    for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
      const response = await fetch(`${url}?proxy=1&secret=${tokens[0]}`, { method })
      bodies.push(await response.text())
    }
  }
  expect(bodies.join()).toContain('SHORT_URL_INVALID')
  expect(logged).toContain('/f/:token')
  for (const secret of secrets) expect([logged, ...bodies].some((text) => text.includes(secret))).toBe(false)
})

it('AMB-67 FILE-16 DELETE on a short URL removes the file and its bytes once', async () => {
  const before = await leftovers(house.gateway)
  const removed = await fetch(urls.remove, { method: 'DELETE' })
  const facts = { locker_id: locker.lockerId, filename: 'a.txt', deleted: true, bytes_removed: true }
  expect([removed.status, await removed.json()]).toEqual([200, { ok: true, ...facts }])
  const after = await leftovers(house.gateway)
  expect([before.held.length - after.held.length, before.onDisk.length - after.onDisk.length]).toEqual([1, 1])
  expect(await errorOf(await fetch(urls.remove, { method: 'DELETE' }))).toEqual([404, 'FILE_NOT_FOUND'])
  expect(await errorOf(await fetch(urls.download))).toEqual([404, 'FILE_NOT_FOUND'])
  expect(await listed(locker, 'a.txt')).toBeUndefined()
})
