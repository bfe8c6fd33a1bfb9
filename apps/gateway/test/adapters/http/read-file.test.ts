import { appendFile, readdir, rm, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { describe, expect, it, onTestFinished } from 'vitest'
import { confirm, watchedStorage } from '../../files/confirm/confirm.ts'
import { pathOf } from '../../files/files.ts'
import { createFile, errorOf, put, rowOf, sha256 } from './transfers.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
const ETAG = `"sha256:${sha256(ALPHABET)}"`

const instance = forAllTests(openTestGateway)
const locker = forEachTest(async () => {
  const made = await instance.locker(ed25519Identity())
  await made.put('letters.txt', ALPHABET)
  return made
})
/** The two URLs of the same file. */
const urls = forEachTest(() => urlsOf('letters.txt'))

const linkOf = (filename: string, receiptId = locker.receiptId) =>
  `${instance.gateway.url}/v1/r/${receiptId}/f/${pathOf(filename)}`

async function urlsOf(filename: string) {
  return { token: (await createFile(instance, locker, filename)).download, link: linkOf(filename) }
}

async function statusAndText(url: string, headers: Record<string, string> = {}): Promise<[number, string]> {
  const response = await fetch(url, { headers })
  return [response.status, await response.text()]
}

describe.each(['token', 'link'] as const)('a file read by its %s', (via) => {
  const cacheControl = via === 'token' ? 'private, no-store' : 'no-cache'

  it('SHORT-05 FILE-30 has its bytes and headers, and HEAD has the same headers', async () => {
    const response = await fetch(urls[via])
    expect([response.status, await response.text()]).toEqual([200, ALPHABET])
    const headers = {
      'content-type': 'text/plain',
      'content-length': '26',
      etag: ETAG,
      'accept-ranges': 'bytes',
      'cache-control': cacheControl,
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': `inline; filename="letters.txt"; filename*=UTF-8''letters.txt`,
    }
    expect(Object.fromEntries(response.headers)).toMatchObject(headers)
    for (const name of ['access-control-allow-credentials', 'set-cookie']) expect(response.headers.get(name)).toBeNull()
    const head = await fetch(urls[via], { method: 'HEAD', headers: { range: 'bytes=0-0' } })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(Object.fromEntries(head.headers)).toMatchObject(headers)
  })

  it('T-09 is refused to a page that loads it as code, and served to one that opens, fetches or embeds it', async () => {
    const as = (destination: string, url = urls[via]) => fetch(url, { headers: { 'sec-fetch-dest': destination } })
    const code = ['script', 'worker', 'sharedworker', 'serviceworker', 'style', 'xslt', 'manifest', 'audioworklet']
    for (const destination of [...code, 'iframe', 'frame', 'embed', 'object', 'Script'])
      expect(await errorOf(await as(destination))).toEqual([403, 'LOADED_AS_CODE'])
    for (const destination of ['empty', 'document', 'image', 'video', 'audio', 'track', 'font'])
      expect((await as(destination)).status).toBe(200)
    await locker.put('paper.pdf', '%PDF-1.7', { contentType: 'application/pdf' })
    const { [via]: paper } = await urlsOf('paper.pdf')
    expect((await as('iframe', paper)).status).toBe(200)
    expect((await as('script', paper)).status).toBe(403)
  })

  it.each([
    ['bytes=20-', 206, 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=-3', 206, 'xyz', 'bytes 23-25/26'],
    ['bytes=26-', 416, expect.stringContaining('RANGE_NOT_SATISFIABLE'), 'bytes */26'],
    ['bytes=0-0,2-3', 200, ALPHABET, null],
  ])('ADD-06 answers the Range header %s with %i', async (range, status, body, part) => {
    const response = await fetch(urls[via], { headers: { range } })
    expect([response.status, await response.text()]).toEqual([status, body])
    expect(response.headers.get('content-range')).toBe(part)
  })

  it('ADD-06 is sent in part only while its bytes are unchanged, and not at all to a client that has them', async () => {
    const range = 'bytes=1-2'
    expect(await statusAndText(urls[via], { range, 'if-range': ETAG })).toEqual([206, 'bc'])
    expect(await statusAndText(urls[via], { range, 'if-range': '"sha256:00"' })).toEqual([200, ALPHABET])
    const known = await fetch(urls[via], { headers: { 'if-none-match': `"other", W/${ETAG}`, range } })
    expect([known.status, await known.text()]).toEqual([304, ''])
    expect(Object.fromEntries(known.headers)).toMatchObject({ etag: ETAG, 'cache-control': cacheControl })
    expect(known.headers.has('content-length')).toBe(false)
    expect((await statusAndText(urls[via], { 'if-none-match': '"other"' }))[0]).toBe(200)
  })

  it('ADD-06 is not mixed with its replacement when a download resumes', async () => {
    const first = (await fetch(urls[via])).headers
    const conditions = [
      { 'if-match': first.get('etag')! },
      { 'if-unmodified-since': first.get('last-modified')! },
    ] as const
    const range = 'bytes=23-'
    for (const condition of conditions)
      expect(await statusAndText(urls[via], { range, ...condition })).toEqual([206, 'xyz'])
    instance.clock.advance(1)
    await locker.put('letters.txt', ALPHABET.toUpperCase())
    for (const condition of conditions) {
      const rest = await fetch(urls[via], { headers: { range, ...condition } })
      expect(await errorOf(rest)).toEqual([412, 'PRECONDITION_FAILED'])
      expect((await fetch(urls[via], { method: 'HEAD', headers: condition })).status).toBe(412)
    }
    for (const condition of [{ 'if-match': '*' }, { 'if-modified-since': first.get('last-modified')! }])
      expect((await fetch(urls[via], { headers: condition as HeadersInit })).status).toBe(200)
  })

  it('ADD-06 GEN-11 has a tag before its hash is recorded, which hides the object id and stays valid', async () => {
    await locker.put('early.txt', 'abcdef', { confirm: false })
    const { [via]: url } = await urlsOf('early.txt')
    const early = (await fetch(url, { headers: { range: 'bytes=0-2' } })).headers.get('etag')!
    expect(early).toMatch(/^"object:[0-9a-f]{32}"$/)
    expect(early).not.toContain((await rowOf(instance, locker, 'early.txt')).object_id?.slice(0, 8))
    expect((await statusAndText(url, { 'if-none-match': early }))[0]).toBe(304)
    expect((await confirm(instance, locker, 'early.txt')).status).toBe(200)
    for (const name of ['if-match', 'if-range']) {
      const rest = await fetch(url, { headers: { range: 'bytes=3-', [name]: early } })
      expect([rest.status, await rest.text()]).toEqual([206, 'def'])
      expect(rest.headers.get('etag')).toBe(`"sha256:${sha256('abcdef')}"`)
    }
    await locker.put('early.txt', 'abcdef', { confirm: false })
    expect((await statusAndText(url, { 'if-match': early }))[0]).toBe(412)
  })

  it('ERR-17 FILE-15 answers 404 CONTENT_NOT_FOUND when its bytes are missing, lost or truncated', async () => {
    const missing = [404, 'CONTENT_NOT_FOUND']
    await createFile(instance, locker, 'promised.txt')
    const { [via]: promised } = await urlsOf('promised.txt')
    for (const headers of [{}, { range: 'bytes=0-' }, { 'if-none-match': '*' }] as HeadersInit[])
      expect(await errorOf(await fetch(promised, { headers }))).toEqual(missing)
    const { object_id } = await rowOf(instance, locker, 'letters.txt')
    const { localFolder } = instance.gateway.context.config.storage
    const path = join(localFolder, 'objects', object_id!.slice(0, 2), object_id!)
    await truncate(path, 20)
    expect(await errorOf(await fetch(urls[via]))).toEqual(missing)
    expect(await errorOf(await fetch(urls[via], { headers: { range: 'bytes=22-' } }))).toEqual(missing)
    await rm(path)
    expect(await errorOf(await fetch(urls[via]))).toEqual(missing)
    expect((await fetch(urls[via], { method: 'HEAD' })).status).toBe(404)
  })
})

it('FILE-30 the public link needs no credentials and ignores any', async () => {
  const headers = { authorization: 'Bearer x', 'x-svc-envelope': 'x', cookie: 'a=b' }
  expect((await fetch(urls.link, { headers })).status).toBe(200)
})

it('FILE-30 the public link reports whether the receipt, locker or file is missing', async () => {
  const unopened = await instance.receipt(ed25519Identity())
  expect(await errorOf(await fetch(linkOf('letters.txt', 'rcpt_nothing')))).toEqual([404, 'receipt_not_found'])
  expect(await errorOf(await fetch(linkOf('letters.txt', unopened)))).toEqual([404, 'locker_not_found'])
  expect(await errorOf(await fetch(linkOf('other.txt')))).toEqual([404, 'FILE_NOT_FOUND'])
  expect((await fetch(linkOf(''))).status).toBe(404)
})

it('ADD-09 FILE-30 web pages may read the public link, like short URLs', async () => {
  const origin = 'https://page.example'
  for (const url of [urls.link, urls.token]) {
    const asking = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type,range' }
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin, ...asking } })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-methods')).toMatch(/GET.*HEAD.*PUT.*DELETE/)
    for (const name of ['Content-Type', 'Range', 'If-Range', 'If-None-Match'])
      expect(preflight.headers.get('access-control-allow-headers')).toContain(name)
    const { headers } = await fetch(url, { headers: { origin } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toMatch(/ETag.*Accept-Ranges.*Content-Range/)
  }
})

it('a response ends at its content length even if the object grows, so that no byte leaks into the next one', async () => {
  const storage = await watchedStorage()
  onTestFinished(storage.remove)
  const local = storage.providers.named('gcs')
  let isGrowing = false
  const providers = onlyProvider({
    ...local,
    /** Like a store whose object grows after its size was read. */
    async stat(key) {
      const found = await local.stat(key)
      const paths = await readdir(storage.folder, { recursive: true })
      const path = join(storage.folder, paths.find((path) => path.endsWith(key.id)) as string)
      if (isGrowing) await appendFile(path, 'HTTP/1.1 200 OK\r\n')
      return found
    },
  })
  const instance = await openTestGateway({}, { providers })
  onTestFinished(instance.close)
  const locker = await instance.locker(ed25519Identity())
  const urls = await createFile(instance, locker, 'a.txt')
  await put(urls.upload, 'as it was')
  isGrowing = true
  const { hostname, port, pathname } = new URL(urls.download)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`)
  const [head = '', body] = (await text(socket)).split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1.1 200 .*content-length: 9\r\n/is)
  expect(body).toBe('as it was')
})
