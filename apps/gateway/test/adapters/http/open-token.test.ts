import { createPublicKey, verify } from 'node:crypto'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { statementSigner } from '@svc/devnet/services/statement-signer'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import type { Json } from '@svc/protocol/canonical'
import { ed25519PublicKeyFromHex, ed25519Signer } from '@svc/protocol/keys'
import { readToken } from '@svc/protocol/short-url'
import { createLog } from '@svc/service/program/log'
import { describe, expect, it } from 'vitest'
import { listed } from './sessions/sessions.ts'
import { createFile, errorOf, type FileUrls, leftovers, put, sha256, signPayload, tokenOf } from './transfers.ts'

const NAME = 'notes/ä.txt'
const INVALID = [403, 'SHORT_URL_INVALID']
const instance = forAllTests(openTestGateway)
const locker = forEachTest(async () => {
  const made = await instance.locker(ed25519Identity())
  await made.put(NAME, 'hello')
  return made
})
const urls = forEachTest(() => createFile(instance, locker, NAME))

const urlOf = (token: string) => `${instance.gateway.url}/f/${token}`
const now = () => Math.floor(instance.clock.now() / 1000)
const byMethod = ({ download, upload, remove }: FileUrls) =>
  Object.entries({ GET: download, PUT: upload, DELETE: remove })

/** The payload of a valid GET token, with changes. */
function payload(changes: Record<string, Json> = {}): Record<string, Json> {
  return { e: now() + 60, f: NAME, l: locker.lockerId, m: 'GET', n: '00', p: 1, v: 1, ...changes }
}

const signed = (fields: Record<string, Json>) => signPayload(fields, instance.gateway.context.signers.shortUrl)
const ask = async (url: string, method = 'GET') =>
  errorOf(await fetch(url, { method, headers: { 'content-type': 'text/plain' } }))
const refusal = (token: string) => ask(urlOf(token))

it('SHORT-02 SHORT-03 a short URL has a token that names its file and method and is signed with the published key', async () => {
  const published = await instance.send<{ verify_key_hex: string }>('GET', '/v1/short-url/verify-key')
  const { verify_key_hex } = published.body
  const token = tokenOf(urls.upload)
  expect(readToken(token, ed25519PublicKeyFromHex(verify_key_hex)!)).toEqual({
    lockerId: locker.lockerId,
    filename: NAME,
    method: 'PUT',
    provider: 1,
    expires: now() + 1800,
    nonce: expect.stringMatching(/^[0-9a-f]{16}$/),
    minted: { by: expect.stringMatching(/^[A-Za-z0-9_-]{16}$/), epoch: 0 },
  })
  const bytes = Buffer.from(token, 'base64url')
  expect(bytes.toString()).not.toContain('gcs')
  const [content, signature] = [bytes.subarray(0, -64), bytes.subarray(-64)]
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(verify_key_hex, 'hex').toString('base64url') }
  expect(verify(null, content, createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(true)
  expect(JSON.parse(content.toString())).toMatchObject({ f: NAME, l: locker.lockerId, m: 'PUT' })
})

it('SHORT-05 a short URL works only with its own method, and a GET URL also with HEAD', async () => {
  for (const [own, url] of byMethod(urls)) {
    for (const method of ['GET', 'PUT', 'DELETE'].filter((other) => other !== own))
      expect([method, ...(await ask(url, method))]).toEqual([method, ...INVALID])
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(own === 'GET' ? 200 : 403)
  }
  expect(await (await fetch(urls.download)).text()).toBe('hello')
})

it('SHORT-14 ERR-16 a short URL expires to the second', async () => {
  instance.clock.advance(1799)
  expect((await fetch(urls.download)).status).toBe(200)
  instance.clock.advance(1)
  for (const [method, url] of byMethod(urls)) expect(await ask(url, method)).toEqual([403, 'SHORT_URL_EXPIRED'])
})

it('SHORT-12 a short URL in the old form finds its file by the hash of its name', async () => {
  const { f: _, ...rest } = payload()
  expect(await (await fetch(urlOf(signed({ ...rest, h: sha256(NAME) })))).text()).toBe('hello')
  for (const h of [sha256('notes/b.txt'), sha256(NAME).toUpperCase()])
    expect(await refusal(signed({ ...rest, h }))).toEqual([404, 'FILE_NOT_FOUND'])
  const upload = signed({ ...rest, m: 'PUT', h: sha256(NAME) })
  expect((await put(urlOf(upload), 'hello')).status).toBe(200)
})

it('SHORT-12 a short URL in the old form finds its file among thousands', { tags: ['nightly'] }, async () => {
  for (const page of [0, 1, 2]) {
    const files = Array.from({ length: 800 }, (_, i) => ({ filename: `n${String(page * 800 + i).padStart(4, '0')}` }))
    expect((await locker.call(['locker:write'], 'POST', '/files/batch', { files })).status).toBe(200)
  }
  for (const filename of ['n0000', 'n0999', 'n1000', 'n2399']) {
    const { f: _, ...rest } = payload({ m: 'PUT', h: sha256(filename) })
    const response = await put(urlOf(signed(rest)), filename, { 'content-type': 'application/octet-stream' })
    expect(await response.json()).toMatchObject({ filename })
  }
})

it('SHORT-03 T-07 a token that is cut, longer, changed or signed with another key answers 403', async () => {
  const token = tokenOf(urls.download)
  const changed = token.slice(0, 40) + (token[40] === 'A' ? 'B' : 'A') + token.slice(41)
  for (const bad of [changed, token.slice(0, -1), `${token}A`, `${token}=`, `%20${token}`, 'A', 'A'.repeat(12_000)])
    expect(await refusal(bad)).toEqual(INVALID)
  // Paths that are not valid UTF-8 text are refused before the token is read.
  for (const more of ['%00', '%zz', '%ff']) expect(await refusal(token + more)).toEqual([422, 'validation_error'])
  for (const signer of [ed25519Signer(new Uint8Array(32).fill(7)), statementSigner(instance.gateway.context)])
    expect(await refusal(signPayload(payload(), signer))).toEqual(INVALID)
  expect((await fetch(urlOf(signed(payload())))).status).toBe(200)
})

it('T-07 GEN-11 a token that is signed for another version, method or provider answers 403', async () => {
  for (const changes of [{ v: 2 }, { m: 'HEAD' }, { p: 0 }, { p: 2 }, { p: 7 }])
    expect(await refusal(signed(payload(changes)))).toEqual(INVALID)
})

it('T-07 a token is checked for method and time before the file is looked up', async () => {
  const unknownFile = { l: 'locker_000000000000', f: 'nothing' }
  expect(await refusal(signed(payload({ ...unknownFile, m: 'PUT' })))).toEqual(INVALID)
  expect(await refusal(signed(payload({ ...unknownFile, e: now() })))).toEqual([403, 'SHORT_URL_EXPIRED'])
  expect(await refusal(signed(payload({ m: 'PUT', e: now() })))).toEqual(INVALID)
  expect(await refusal(signed(payload(unknownFile)))).toEqual([404, 'FILE_NOT_FOUND'])
})

it('SHORT-08 ERR-19 a token of a deleted or unknown file answers 404 to every method', async () => {
  expect((await fetch(urls.remove, { method: 'DELETE' })).status).toBe(200)
  for (const [method, url] of byMethod(urls)) {
    expect(await ask(url, method)).toEqual([404, 'FILE_NOT_FOUND'])
    for (const f of ['never there', '', '../../../etc/passwd', '__proto__'])
      expect(await ask(urlOf(signed(payload({ f, m: method }))), method)).toEqual([404, 'FILE_NOT_FOUND'])
  }
})

describe('the responses of a short URL', () => {
  let logged = ''
  const write = (line: string) => {
    logged += line
  }
  const log = createLog('debug', { write, writeSoon: write, flush: () => {} })
  const instance = forAllTests(() => openTestGateway({}, { log }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  const urls = forEachTest(async () => {
    await locker.put('a.txt', 'hello')
    return createFile(instance, locker, 'a.txt')
  })

  it('T-07 FILE-31 every response forbids caching and Referer, and an error says what to do next', async () => {
    const garbage = `${instance.gateway.url}/f/AAAA`
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
      [`${instance.gateway.url}/f/%zz`, 'GET'],
      [`${instance.gateway.url}/f/`, 'GET'],
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

  it('T-12 no log line and no error contains a token or a storage path', async () => {
    const tokens = [urls.download, urls.upload, urls.remove].map(tokenOf)
    const secrets = [...tokens, instance.gateway.context.config.storage.localFolder]
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

  it('FILE-07 FILE-16 DELETE on a short URL removes the file and its bytes once', async () => {
    const before = await leftovers(instance.gateway)
    const removed = await fetch(urls.remove, { method: 'DELETE' })
    const facts = { locker_id: locker.lockerId, filename: 'a.txt', deleted: true, bytes_removed: true }
    expect([removed.status, await removed.json()]).toEqual([200, { ok: true, ...facts }])
    const after = await leftovers(instance.gateway)
    expect([before.held.length - after.held.length, before.onDisk.length - after.onDisk.length]).toEqual([1, 1])
    expect(await errorOf(await fetch(urls.remove, { method: 'DELETE' }))).toEqual([404, 'FILE_NOT_FOUND'])
    expect(await errorOf(await fetch(urls.download))).toEqual([404, 'FILE_NOT_FOUND'])
    expect(await listed(locker, 'a.txt')).toBeUndefined()
  })
})
