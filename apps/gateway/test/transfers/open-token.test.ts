import { createPublicKey, verify } from 'node:crypto'
import { fromBase64Url, toBase64Url } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { ed25519PublicKeyFromHex, ed25519Signer } from '@svc/protocol/keys'
import { readToken } from '@svc/protocol/short-url'
import { statementSigner } from '@svc/testbed/statement-signer'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { createFile, errorOf, type FileUrls, put, sha256, signPayload, tokenOf } from './transfers.ts'

let house: LockerHouse
let locker: TestLocker
let urls: FileUrls

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(ed25519Identity())
  await locker.put('notes/ä.txt', 'hello')
})

beforeEach(async () => {
  urls = await createFile(house, locker, 'notes/ä.txt')
})

afterAll(() => house.close())

const urlOf = (token: string) => `${house.gateway.url}/f/${token}`
const now = () => Math.floor(house.clock.now() / 1000)

/** The payload of a valid GET token, with changes. */
function payload(changes: Record<string, Json> = {}): Record<string, Json> {
  const fields = { e: now() + 60, f: 'notes/ä.txt', l: locker.lockerId, m: 'GET', n: '00', p: 1, v: 1 }
  return { ...fields, ...changes }
}

const signed = (fields: Record<string, Json>) => signPayload(fields, house.gateway.context.signers.shortUrl)
const refusal = async (token: string, method = 'GET') => errorOf(await fetch(urlOf(token), { method }))

describe('a short URL', () => {
  it('SHORT-01 SHORT-02 SHORT-03 AMB-21 AMB-25 a token names its file and method and is signed with the published key', async () => {
    const { verify_key_hex } = (await (await fetch(`${house.gateway.url}/v1/short-url/verify-key`)).json()) as {
      verify_key_hex: string
    }
    const token = tokenOf(urls.upload)
    const fields = readToken(token, ed25519PublicKeyFromHex(verify_key_hex)!)
    expect(fields).toEqual({
      lockerId: locker.lockerId,
      filename: 'notes/ä.txt',
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
    expect(JSON.parse(content.toString())).toMatchObject({ f: 'notes/ä.txt', l: locker.lockerId, m: 'PUT' })
  })

  it('FILE-08 GEN-06 a short URL begins with the base URL of the gateway', async () => {
    const { baseUrl } = house.gateway.context.config.http
    const made = await locker.call<{ upload_url: string }>(['locker:write'], 'POST', '/files', { filename: 'x' })
    expect(made.body.upload_url).toMatch(new RegExp(`^${baseUrl}/f/[A-Za-z0-9_-]+$`))
  })

  it('SHORT-05 a short URL works with its own method only', async () => {
    for (const [url, own] of [
      [urls.download, 'GET'],
      [urls.upload, 'PUT'],
      [urls.remove, 'DELETE'],
    ] as const) {
      for (const method of ['GET', 'PUT', 'DELETE'].filter((other) => other !== own)) {
        const response = await fetch(url, { method, headers: { 'content-type': 'text/plain' } })
        expect([method, ...(await errorOf(response))]).toEqual([method, 403, 'SHORT_URL_INVALID'])
      }
    }
    expect(await (await fetch(urls.download)).text()).toBe('hello')
  })

  it('SHORT-05 AMB-62 a short URL for GET works with HEAD', async () => {
    const head = await fetch(urls.download, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '5', ''])
    for (const url of [urls.upload, urls.remove]) expect((await fetch(url, { method: 'HEAD' })).status).toBe(403)
  })

  it('SHORT-07 SHORT-14 ERR-16 a short URL expires to the second', async () => {
    house.clock.advance(1799)
    expect((await fetch(urls.download)).status).toBe(200)
    house.clock.advance(1)
    for (const [url, method] of [
      [urls.download, 'GET'],
      [urls.upload, 'PUT'],
      [urls.remove, 'DELETE'],
    ] as const) {
      expect(await errorOf(await fetch(url, { method, headers: { 'content-type': 'text/plain' } }))).toEqual([
        403,
        'SHORT_URL_EXPIRED',
      ])
    }
  })

  it('SHORT-12 a token of the old form finds its file by the hash of its name', async () => {
    const { f: _, ...rest } = payload()
    const token = signed({ ...rest, h: sha256('notes/ä.txt') })
    expect(await (await fetch(urlOf(token))).text()).toBe('hello')
    expect(await refusal(signed({ ...rest, h: sha256('notes/b.txt') }))).toEqual([404, 'FILE_NOT_FOUND'])
    expect(await refusal(signed({ ...rest, h: sha256('notes/ä.txt').toUpperCase() }))).toEqual([404, 'FILE_NOT_FOUND'])
    const upload = signed({ ...rest, m: 'PUT', h: sha256('notes/ä.txt') })
    expect((await put(urlOf(upload), 'hello')).status).toBe(200)
  })

  it('SHORT-12 a token of the old form finds its file among thousands', { tags: ['nightly'] }, async () => {
    const other = await house.locker(ed25519Identity())
    for (const page of [0, 1, 2]) {
      const files = Array.from({ length: 800 }, (_, i) => ({ filename: `n${String(page * 800 + i).padStart(4, '0')}` }))
      expect((await other.call(['locker:write'], 'POST', '/files/batch', { files })).status).toBe(200)
    }
    for (const filename of ['n0000', 'n0999', 'n1000', 'n2399']) {
      const { f: _, ...rest } = payload({ l: other.lockerId, m: 'PUT', h: sha256(filename) })
      const response = await put(urlOf(signed(rest)), filename, { 'content-type': 'application/octet-stream' })
      expect(await response.json()).toMatchObject({ filename })
    }
  })
})

describe('an invalid token', () => {
  it('T-07 ERR-16 a token with a flipped bit in any byte is 403', async () => {
    const bytes = fromBase64Url(tokenOf(urls.download))!
    const codes = new Set<string>()
    for (const [i, byte] of bytes.entries()) {
      const flipped = Uint8Array.from(bytes)
      flipped[i] = byte ^ (1 << (i % 8))
      codes.add(String(await refusal(toBase64Url(flipped))))
    }
    expect([...codes]).toEqual(['403,SHORT_URL_INVALID'])
  })

  it('T-07 a truncated or extended token is 403', async () => {
    const token = tokenOf(urls.download)
    const codes = new Set<string>()
    for (let length = 1; length < token.length; length++) codes.add(String(await refusal(token.slice(0, length))))
    for (const more of ['A', 'AA', 'AAAA', '=', '==', '.', '%20', '%0A', '-', '%2F', '%C3%A9', token]) {
      codes.add(String(await refusal(token + more)))
    }
    for (const before of ['A', '%20', '%0A', token]) codes.add(String(await refusal(before + token)))
    expect([...codes]).toEqual(['403,SHORT_URL_INVALID'])
    // Paths that are not valid UTF-8 text are refused before the token is read.
    for (const more of ['%00', '%zz', '%ff']) expect(await refusal(token + more)).toEqual([422, 'validation_error'])
  })

  it('T-07 a token in another alphabet or with stray bits is 403', async () => {
    const token = tokenOf(urls.download)
    const standard = Buffer.from(token, 'base64url').toString('base64')
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const stray = token.slice(0, -1) + last[(last.indexOf(token.at(-1) as string) ^ 1) & 63]
    expect(await refusal(stray)).toEqual([403, 'SHORT_URL_INVALID'])
    expect(await refusal(encodeURIComponent(`${standard}=`))).toEqual([403, 'SHORT_URL_INVALID'])
    expect(await refusal(encodeURIComponent(Buffer.from(token).toString('hex')))).toEqual([403, 'SHORT_URL_INVALID'])
  })

  it('T-07 an invalid token of any length that HTTP allows is 403', async () => {
    for (const length of [1, 86, 87, 2048, 2049, 4096, 4097, 12_000]) {
      expect([length, ...(await refusal('A'.repeat(length)))]).toEqual([length, 403, 'SHORT_URL_INVALID'])
    }
  })

  it('T-07 SHORT-03 a token signed with another key is 403', async () => {
    for (const signer of [ed25519Signer(new Uint8Array(32).fill(7)), statementSigner(house.gateway.context)]) {
      expect(await refusal(signPayload(payload(), signer))).toEqual([403, 'SHORT_URL_INVALID'])
    }
    expect((await fetch(urlOf(signed(payload())))).status).toBe(200)
  })

  it.each([
    ['another version', { v: 2 }],
    ['no version', { v: null }],
    ['another method', { m: 'POST' }],
    ['a method in lower case', { m: 'get' }],
    ['HEAD', { m: 'HEAD' }],
    ['an expiry that is a string', { e: '1900000000' }],
    ['a filename that is not a string', { f: 1 }],
    ['a locker id that is not a string', { l: null }],
    ['a provider that is not a number', { p: 'gcs' }],
    ['no nonce', { n: null }],
  ])('T-07 a signed token with %s is 403', async (_, changes) => {
    expect(await refusal(signed(payload(changes)))).toEqual([403, 'SHORT_URL_INVALID'])
  })

  it('T-07 AMB-21 a token with the code of another provider is 403', async () => {
    for (const p of [0, 2, 6, 7, -1]) expect(await refusal(signed(payload({ p })))).toEqual([403, 'SHORT_URL_INVALID'])
  })

  it('T-07 a token is checked for method and time before the file is looked up', async () => {
    const nowhere = { l: 'locker_000000000000', f: 'nothing' }
    expect(await refusal(signed(payload({ ...nowhere, m: 'PUT' })))).toEqual([403, 'SHORT_URL_INVALID'])
    expect(await refusal(signed(payload({ ...nowhere, e: now() })))).toEqual([403, 'SHORT_URL_EXPIRED'])
    expect(await refusal(signed(payload({ m: 'PUT', e: now() })))).toEqual([403, 'SHORT_URL_INVALID'])
    expect(await refusal(signed(payload(nowhere)))).toEqual([404, 'FILE_NOT_FOUND'])
  })

  it('SHORT-08 ERR-19 a token of a deleted file is 404 for every method', async () => {
    await locker.put('gone', 'bytes')
    const { upload, download, remove } = await createFile(house, locker, 'gone')
    expect(await (await fetch(download)).text()).toBe('bytes')
    expect((await fetch(remove, { method: 'DELETE' })).status).toBe(200)
    for (const [url, method] of [
      [download, 'GET'],
      [upload, 'PUT'],
      [remove, 'DELETE'],
      ...['GET', 'PUT', 'DELETE'].map((m) => [urlOf(signed(payload({ f: 'never there', m }))), m] as const),
    ] as const) {
      const response = await fetch(url, { method, headers: { 'content-type': 'text/plain' } })
      expect(await errorOf(response)).toEqual([404, 'FILE_NOT_FOUND'])
    }
  })

  it('T-07 a token with an invalid filename opens nothing', async () => {
    for (const f of ['', '..', '../../../etc/passwd', '\u0000', '__proto__', 'a'.repeat(1000)]) {
      expect((await fetch(urlOf(signed(payload({ f }))))).status).toBe(404)
    }
  })
})
