import { randomBytes } from 'node:crypto'
import { rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { createFile, errorOf, rowOf, sha256 } from './transfers.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
const ETAG = `"sha256:${sha256(ALPHABET)}"`

let house: LockerHouse
let locker: TestLocker
/** The two URLs of the same file. */
let urls: { token: string; link: string }

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(ed25519Identity())
  await locker.put('letters.txt', ALPHABET)
  urls = await urlsOf('letters.txt')
})

afterAll(() => house.close())

const linkOf = (filename: string, receiptId = locker.receiptId) =>
  `${house.gateway.url}/v1/r/${receiptId}/f/${filename.split('/').map(encodeURIComponent).join('/')}`

async function urlsOf(filename: string) {
  return { token: (await createFile(house, locker, filename)).download, link: linkOf(filename) }
}

const objectPath = (id: string) => join(house.gateway.context.config.storage.localFolder, 'objects', id.slice(0, 2), id)

describe.each(['token', 'link'] as const)('a file read by its %s', (via) => {
  it('SHORT-05 FILE-30 ADD-06 a file is read with its bytes and headers', async () => {
    const response = await fetch(urls[via])
    expect([response.status, await response.text()]).toEqual([200, ALPHABET])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '26',
      etag: ETAG,
      'accept-ranges': 'bytes',
      'cache-control': via === 'token' ? 'private, no-store' : 'no-cache',
      'access-control-allow-origin': '*',
    })
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('T-82 browsers get no file as code of a page; whoever opens, fetches or shows it does, and so do programs', async () => {
    const as = (destination: string, url = urls[via]) => fetch(url, { headers: { 'sec-fetch-dest': destination } })
    const code = ['script', 'worker', 'sharedworker', 'serviceworker', 'style', 'xslt', 'manifest', 'audioworklet']
    for (const destination of [...code, 'iframe', 'frame', 'embed', 'object', 'Script']) {
      expect(await errorOf(await as(destination))).toEqual([403, 'LOADED_AS_CODE'])
    }
    for (const destination of ['empty', 'document', 'image', 'video', 'audio', 'track', 'font'])
      expect((await as(destination)).status).toBe(200)
    await locker.put('paper.pdf', '%PDF-1.7', { contentType: 'application/pdf' })
    const { [via]: paper } = await urlsOf('paper.pdf')
    expect((await as('iframe', paper)).status).toBe(200)
    expect((await as('script', paper)).status).toBe(403)
  })

  it('ADD-06 AMB-62 HEAD answers the headers of GET without the bytes', async () => {
    const [get, head] = await Promise.all(['GET', 'HEAD'].map((method) => fetch(urls[via], { method })))
    const headersOf = (response: Response | undefined) => {
      const {
        date: _d,
        'x-request-id': _i,
        connection: _c,
        'keep-alive': _k,
        ...rest
      } = Object.fromEntries(response!.headers)
      return rest
    }
    expect([head!.status, await head!.text()]).toEqual([200, ''])
    expect(headersOf(head)).toEqual(headersOf(get))
    const ranged = await fetch(urls[via], { method: 'HEAD', headers: { range: 'bytes=0-0' } })
    expect([ranged.status, ranged.headers.get('content-length')]).toEqual([200, '26'])
  })

  it.each([
    ['bytes=0-0', 206, 'a', '0-0'],
    ['bytes=0-25', 206, ALPHABET, '0-25'],
    ['bytes=25-25', 206, 'z', '25-25'],
    ['bytes=20-', 206, 'uvwxyz', '20-25'],
    ['bytes=-3', 206, 'xyz', '23-25'],
    ['bytes=-1000', 206, ALPHABET, '0-25'],
    ['bytes=10-9999999999999999999', 206, ALPHABET.slice(10), '10-25'],
    ['BYTES=1-2', 206, 'bc', '1-2'],
    ['bytes=26-', 416, '', ''],
    ['bytes=26-30', 416, '', ''],
    ['bytes=99999999999999999999-', 416, '', ''],
    ['bytes=-0', 416, '', ''],
    ['bytes=5-2', 200, ALPHABET, ''],
    ['bytes=-', 200, ALPHABET, ''],
    ['bytes=', 200, ALPHABET, ''],
    ['bytes', 200, ALPHABET, ''],
    ['bytes=a-b', 200, ALPHABET, ''],
    ['bytes=0x0-0x1', 200, ALPHABET, ''],
    ['bytes=1.5-2', 200, ALPHABET, ''],
    ['bytes=-1-2', 200, ALPHABET, ''],
    ['bytes=0-0,2-3', 200, ALPHABET, ''],
    [`bytes=${'0-,'.repeat(1000)}0-`, 200, ALPHABET, ''],
    ['items=0-1', 200, ALPHABET, ''],
    ['bytes = 0-1', 200, ALPHABET, ''],
    ['bytes=0-111111111111111111111', 200, ALPHABET, ''],
  ])('ADD-06 a request with Range: %s is %i', async (range, status, body, part) => {
    const response = await fetch(urls[via], { headers: { range } })
    expect(response.status).toBe(status)
    if (status === 416) {
      expect(response.headers.get('content-range')).toBe('bytes */26')
      expect(await response.json()).toMatchObject({ error: 'RANGE_NOT_SATISFIABLE' })
    } else {
      expect(response.headers.get('content-range')).toBe(part ? `bytes ${part}/26` : null)
      expect(response.headers.get('content-length')).toBe(String(body.length))
      expect(await response.text()).toBe(body)
    }
  })

  it('ADD-06 a range with If-Range is served only for the same bytes', async () => {
    const read = async (ifRange: string) => {
      const response = await fetch(urls[via], { headers: { range: 'bytes=1-2', 'if-range': ifRange } })
      return [response.status, await response.text()]
    }
    expect(await read(ETAG)).toEqual([206, 'bc'])
    for (const other of ['"sha256:00"', `W/${ETAG}`, 'Tue, 01 Sep 2026 12:00:00 GMT', ETAG.slice(1, -1), '*']) {
      expect(await read(other)).toEqual([200, ALPHABET])
    }
  })

  it('ADD-06 bytes that the client has are 304', async () => {
    for (const tag of [ETAG, `W/${ETAG}`, `"other", ${ETAG}`, '*']) {
      const response = await fetch(urls[via], { headers: { 'if-none-match': tag, range: 'bytes=0-1' } })
      expect([tag, response.status, await response.text()]).toEqual([tag, 304, ''])
      expect(response.headers.get('etag')).toBe(ETAG)
      expect(response.headers.get('content-length')).toBeNull()
      expect(response.headers.get('cache-control')).toBe(via === 'token' ? 'private, no-store' : 'no-cache')
    }
    for (const tag of ['"other"', ETAG.slice(1, -1), '""', '']) {
      expect((await fetch(urls[via], { headers: { 'if-none-match': tag } })).status).toBe(200)
    }
  })

  it('ADD-20 a file that was replaced is not mixed with the one before', async () => {
    await locker.put('replaced.txt', 'first version')
    const url = (await urlsOf('replaced.txt'))[via]
    const first = (await fetch(url)).headers
    const conditions = [
      { 'if-match': first.get('etag')! },
      { 'if-unmodified-since': first.get('last-modified')! },
    ] as const
    for (const condition of conditions) {
      const rest = await fetch(url, { headers: { range: 'bytes=6-', ...condition } })
      expect([rest.status, await rest.text()]).toEqual([206, 'version'])
    }
    house.clock.advance(1)
    await locker.put('replaced.txt', 'SECOND VERSION')
    const now = (await urlsOf('replaced.txt'))[via]
    for (const condition of conditions) {
      const rest = await fetch(now, { headers: { range: 'bytes=6-', ...condition } })
      expect([rest.status, ((await rest.json()) as { error: string }).error]).toEqual([412, 'PRECONDITION_FAILED'])
      expect((await fetch(now, { method: 'HEAD', headers: condition })).status).toBe(412)
    }
    expect((await fetch(now, { headers: { 'if-match': '*' } })).status).toBe(200)
    expect((await fetch(now, { headers: { 'if-modified-since': first.get('last-modified')! } })).status).toBe(200)
  })

  it('ADD-20 a download that began before the file was confirmed can be continued after it', async () => {
    await locker.put('early.txt', 'abcdef', { confirm: false })
    const url = (await urlsOf('early.txt'))[via]
    const early = (await fetch(url, { headers: { range: 'bytes=0-2' } })).headers.get('etag')!
    expect((await fetch(url, { headers: { 'if-none-match': early } })).status).toBe(304)
    const query = new URLSearchParams({ receipt_id: locker.receiptId, filename: 'early.txt' })
    expect((await house.send('POST', `/v1/files/confirm?${query}`)).status).toBe(200)
    for (const name of ['if-match', 'if-range']) {
      const rest = await fetch(url, { headers: { range: 'bytes=3-', [name]: early } })
      expect([rest.status, await rest.text()]).toEqual([206, 'def'])
      expect(rest.headers.get('etag')).toBe(`"sha256:${sha256('abcdef')}"`)
    }
    await locker.put('early.txt', 'abcdef', { confirm: false })
    expect((await fetch((await urlsOf('early.txt'))[via], { headers: { 'if-match': early } })).status).toBe(412)
  })

  it('ADD-06 GEN-11 a file has a tag before its hash is recorded, which is not the name of its object', async () => {
    await locker.put('unconfirmed.txt', 'hello', { confirm: false })
    const url = (await urlsOf('unconfirmed.txt'))[via]
    const whole = await fetch(url, { headers: { 'if-none-match': '"x"' } })
    const tag = whole.headers.get('etag')
    expect([whole.status, tag, await whole.text()]).toEqual([200, expect.stringMatching(/^"object:/), 'hello'])
    expect(tag).not.toContain((await rowOf(house, locker, 'unconfirmed.txt')).object_id?.slice(0, 8))
    const part = await fetch(url, { headers: { range: 'bytes=1-' } })
    expect([part.status, await part.text()]).toEqual([206, 'ello'])
    const doubtful = await fetch(url, { headers: { range: 'bytes=1-', 'if-range': '"x"' } })
    expect([doubtful.status, await doubtful.text()]).toEqual([200, 'hello'])
  })

  it('ADD-06 an empty file can be read', async () => {
    await locker.put('empty', '', { contentType: 'application/x-empty' })
    const url = (await urlsOf('empty'))[via]
    const whole = await fetch(url)
    expect([whole.status, whole.headers.get('content-length'), await whole.text()]).toEqual([200, '0', ''])
    expect((await fetch(url, { headers: { range: 'bytes=0-' } })).status).toBe(416)
    expect((await fetch(url, { headers: { range: 'bytes=-5' } })).status).toBe(200)
  })

  it.each(['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/html; charset=utf-8'])(
    'T-09 FILE-30 a browser neither runs nor sniffs a file of the type %s',
    async (contentType) => {
      await locker.put('page".html', '<script>alert(1)</script>', { contentType })
      const { headers, status } = await fetch((await urlsOf('page".html'))[via])
      expect(status).toBe(200)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': contentType,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'cross-origin-resource-policy': 'cross-origin',
        'content-disposition': `inline; filename="page_.html"; filename*=UTF-8''page%22.html`,
      })
      expect(headers.get('set-cookie')).toBeNull()
    },
  )

  it('T-30 a file with any name has valid headers', async () => {
    for (const filename of ['ä/ö ü.txt', '日本.txt', "a'b(c)*.txt", 'a%0d%0aSet-Cookie x', '😀', 'a;b="c"']) {
      await locker.put(filename, 'x')
      const { headers } = await fetch((await urlsOf(filename))[via])
      const [, encoded] = /^inline; filename="[\x20-\x7e]*"; filename\*=UTF-8''([\w.!#$&+^`|~%-]+)$/.exec(
        headers.get('content-disposition') ?? '',
      ) as RegExpExecArray
      expect(decodeURIComponent(encoded as string)).toBe(filename.split('/').at(-1))
    }
  })

  it('ERR-17 a file without uploaded bytes is 404 CONTENT_NOT_FOUND', async () => {
    await createFile(house, locker, 'promised.txt')
    const url = (await urlsOf('promised.txt'))[via]
    for (const headers of [{}, { range: 'bytes=0-' }, { 'if-none-match': '*' }] as HeadersInit[]) {
      expect(await errorOf(await fetch(url, { headers }))).toEqual([404, 'CONTENT_NOT_FOUND'])
    }
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(404)
  })

  it('ERR-17 FILE-15 a file whose bytes are lost or truncated is 404 CONTENT_NOT_FOUND', async () => {
    await locker.put('lost.txt', ALPHABET)
    const url = (await urlsOf('lost.txt'))[via]
    const { object_id } = await rowOf(house, locker, 'lost.txt')
    await truncate(objectPath(object_id as string), 20)
    expect(await errorOf(await fetch(url))).toEqual([404, 'CONTENT_NOT_FOUND'])
    expect(await errorOf(await fetch(url, { headers: { range: 'bytes=22-' } }))).toEqual([404, 'CONTENT_NOT_FOUND'])
    await rm(objectPath(object_id as string))
    expect(await errorOf(await fetch(url))).toEqual([404, 'CONTENT_NOT_FOUND'])
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(404)
  })
})

describe('the public link', () => {
  it('FILE-30 the public link needs no credentials and ignores any', async () => {
    const headers = { authorization: 'Bearer x', 'x-svc-envelope': 'x', cookie: 'a=b' }
    expect((await fetch(urls.link, { headers })).status).toBe(200)
  })

  it('FILE-30 the public link says whether receipt, locker or file is missing', async () => {
    const unopened = await house.receipt(ed25519Identity())
    expect(await errorOf(await fetch(linkOf('letters.txt', 'rcpt_nothing')))).toEqual([404, 'receipt_not_found'])
    expect(await errorOf(await fetch(linkOf('letters.txt', unopened)))).toEqual([404, 'locker_not_found'])
    expect(await errorOf(await fetch(linkOf('other.txt')))).toEqual([404, 'FILE_NOT_FOUND'])
    expect((await fetch(`${house.gateway.url}/v1/r/${locker.receiptId}/f/`)).status).toBe(404)
    expect((await fetch(`${house.gateway.url}/v1/r/${locker.receiptId}/f`)).status).toBe(404)
  })

  it('T-05 the public link accepts names in folders, percent-encoded once, with the slash encoded or not', async () => {
    await locker.put('folder/deep file.txt', 'deep')
    const base = `${house.gateway.url}/v1/r/${locker.receiptId}/f/`
    for (const name of ['folder/deep%20file.txt', 'folder%2Fdeep%20file.txt', '%66older/deep%20file.txt']) {
      expect(await (await fetch(base + name)).text()).toBe('deep')
    }
    for (const name of ['folder%252Fdeep%20file.txt', 'folder//deep%20file.txt', 'FOLDER/deep%20file.txt']) {
      expect(await errorOf(await fetch(base + name))).toEqual([404, 'FILE_NOT_FOUND'])
    }
    for (const name of ['%2e%2e%2f%2e%2e%2fetc%2fpasswd', 'folder%00', '%zz', '%ff', 'x'.repeat(4000)]) {
      expect((await fetch(base + name)).status).toSatisfy((status: number) => status === 404 || status === 422)
    }
  })

  it('T-06 the public link distinguishes names that only look alike', async () => {
    await locker.put('caf\u00e9', 'composed')
    await locker.put('cafe\u0301', 'decomposed')
    expect(await (await fetch(linkOf('caf\u00e9'))).text()).toBe('composed')
    expect(await (await fetch(linkOf('cafe\u0301'))).text()).toBe('decomposed')
  })

  it('FILE-30 the public link works after the paid term of the locker', async () => {
    const other = await openLockerHouse()
    try {
      const own = await other.locker(ed25519Identity())
      await own.put('a', 'old')
      other.clock.advance(10 * 365 * 86_400)
      const response = await fetch(`${other.gateway.url}/v1/r/${own.receiptId}/f/a`)
      expect([response.status, await response.text()]).toEqual([200, 'old'])
    } finally {
      await other.close()
    }
  })

  it('AMB-62 FILE-30 web pages may read the public link and short URLs', async () => {
    const origin = 'https://page.example'
    for (const url of [urls.link, urls.token]) {
      const preflight = await fetch(url, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'content-type,range',
        },
      })
      expect(preflight.status).toBe(204)
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
      expect(preflight.headers.get('access-control-allow-methods')).toMatch(/GET.*HEAD.*PUT.*DELETE/)
      for (const name of ['Content-Type', 'Range', 'If-Range', 'If-None-Match']) {
        expect(preflight.headers.get('access-control-allow-headers')).toContain(name)
      }
      const { headers } = await fetch(url, { headers: { origin } })
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-expose-headers')).toMatch(/ETag.*Accept-Ranges.*Content-Range/)
    }
  })
})

it('T-11 a file of 16 MiB is read byte for byte, whole and by range', { tags: ['nightly'] }, async () => {
  const bytes = randomBytes(16 * 1_048_576)
  await locker.put('large.bin', bytes, { contentType: 'application/octet-stream' })
  const { token } = await urlsOf('large.bin')
  const whole = new Uint8Array(await (await fetch(token)).arrayBuffer())
  expect([whole.length, sha256(whole)]).toEqual([bytes.length, sha256(bytes)])
  expect((await fetch(token, { method: 'HEAD' })).headers.get('etag')).toBe(`"sha256:${sha256(bytes)}"`)
  const [start, end] = [2_345_678, 15_678_901]
  const part = await fetch(token, { headers: { range: `bytes=${start}-${end}` } })
  expect(sha256(new Uint8Array(await part.arrayBuffer()))).toBe(sha256(bytes.subarray(start, end + 1)))
})
