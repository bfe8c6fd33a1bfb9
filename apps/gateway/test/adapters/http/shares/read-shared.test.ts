// Downloads by share: the same answers as by short URL, and nothing outside the share.

import type { LockerUsage } from '@svc/api/usage'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { callRaw } from '../../../files/files.ts'
import { sha256 } from '../transfers.ts'
import { share } from './shares.ts'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz'
const ETAG = `"sha256:${sha256(ALPHABET)}"`
const NAMES = ['a b+c.txt', 'über/größe.txt', 'percent%2Fslash.txt', 'deep/er/x.txt']

const instance = forAllTests(openTestGateway)
const locker = forAllTests(async () => {
  const made = await instance.locker(ed25519Identity())
  await made.put('letters.txt', ALPHABET)
  await made.put('photos-private/secret.txt', 'secret')
  await made.put('secret.txt', 'secret')
  await made.put('photos/letters.txt', ALPHABET)
  await made.put('photos/page.html', '<script>alert(1)</script>', { contentType: 'text/html' })
  for (const name of NAMES) await made.put(`photos/${name}`, `the bytes of ${name}`)
  return made
})
const ids = forAllTests(async () => ({
  file: (await share(locker, 'photos/letters.txt')).id,
  folder: (await share(locker, 'photos/')).id,
}))

const read = (id: string, filename: string, init?: RequestInit) =>
  fetch(`${instance.gateway.url}/v1/shares/${id}/f/${filename}`, init)

it.each(['file', 'folder'] as const)(
  'ADD-61 ADD-06 a shared %s has the bytes and headers of a short URL',
  async (kind) => {
    const response = await read(ids[kind], 'letters.txt')
    expect([response.status, await response.text()]).toEqual([200, ALPHABET])
    const headers = {
      'content-type': 'text/plain',
      'content-length': '26',
      etag: ETAG,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      'referrer-policy': 'no-referrer',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'content-disposition': `inline; filename="letters.txt"; filename*=UTF-8''letters.txt`,
    }
    expect(Object.fromEntries(response.headers)).toMatchObject(headers)
    const head = await read(ids[kind], 'letters.txt', { method: 'HEAD', headers: { range: 'bytes=0-0' } })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(Object.fromEntries(head.headers)).toMatchObject(headers)
  },
)

it('ADD-61 ADD-06 a shared file supports ranges and conditions', async () => {
  const answers = async (headers: Record<string, string>) => {
    const response = await read(ids.folder, 'letters.txt', { headers })
    return [response.status, response.headers.get('content-range'), await response.text()]
  }
  expect(await answers({ range: 'bytes=1-3' })).toEqual([206, 'bytes 1-3/26', 'bcd'])
  expect(await answers({ range: 'bytes=-2', 'if-range': ETAG })).toEqual([206, 'bytes 24-25/26', 'yz'])
  expect(await answers({ 'if-none-match': ETAG })).toEqual([304, null, ''])
  expect((await answers({ 'if-match': '"other"' }))[0]).toBe(412)
  expect((await answers({ range: 'bytes=26-' })).slice(0, 2)).toEqual([416, 'bytes */26'])
})

it('T-09 ADD-61 a shared page never runs, and no share is loaded as code', async () => {
  const page = await read(ids.folder, 'page.html')
  expect(page.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
  for (const destination of ['script', 'iframe', 'worker', 'style']) {
    const refused = await read(ids.folder, 'page.html', { headers: { 'sec-fetch-dest': destination } })
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([403, 'LOADED_AS_CODE'])
  }
})

it.each(NAMES)('ADD-61 T-05 a folder opens the file %s by its encoded name', async (name) => {
  const segments = name.split('/').map(encodeURIComponent)
  for (const path of [segments.join('/'), encodeURIComponent(name)]) {
    const response = await read(ids.folder, path)
    expect([path, await response.text()]).toEqual([path, `the bytes of ${name}`])
  }
})

/** Sends the path as it is: `fetch` would remove parts such as `..`. */
async function raw(id: string, rest: string) {
  const { status, text } = await callRaw(instance, locker.owner, {
    method: 'GET',
    path: `/v1/shares/${id}/${rest}`,
    ops: [],
    lockerId: locker.lockerId,
  })
  return { status, text }
}

it.each([
  'f/../secret.txt',
  'f/%2e%2e/secret.txt',
  'f/..%2Fsecret.txt',
  'f/%2E%2E%2fsecret.txt',
  'f/..%5Csecret.txt',
  'f/x/../../secret.txt',
  'f//secret.txt',
  'f/%2Fsecret.txt',
  'f/../photos-private/secret.txt',
  'f/-private/secret.txt',
  'f/%252e%252e/secret.txt',
  'f/photos/letters.txt',
  'f/LETTERS.txt',
  'f/letters.txt/',
  'f/letters.txt%20',
  'f/.',
  'f/',
  'proof/../f/../secret.txt',
  'proof/..%2Fsecret.txt',
])('T-05 ADD-61 /%s opens nothing outside the share', async (rest) => {
  for (const id of [ids.file, ids.folder]) {
    const { status, text } = await raw(id, rest)
    expect([404, 422], text).toContain(status)
    expect(text).not.toContain('the bytes')
    expect(text).not.toContain('photos')
  }
})

it.each(['%00', '%ff%fe', '%ed%a0%80', '%', '%zz'])(
  'T-06 ADD-61 hostile names and ids (%s) are refused',
  async (text) => {
    for (const path of [`/v1/shares/${ids.folder}/f/${text}`, `/v1/shares/${text}`, `/s/${text}`]) {
      const { status, body } = await instance.send<{ error: string }>('GET', path)
      expect([path, status], JSON.stringify(body)).toEqual([path, expect.toBeOneOf([400, 404, 422])])
    }
  },
)

it('ADD-61 a shared file opens under its last name only, and follows what is stored there', async () => {
  for (const filename of ['photos%2Fletters.txt', 'other.txt', 'secret.txt'])
    expect((await read(ids.file, filename)).status).toBe(404)
  const own = await instance.locker(ed25519Identity())
  await own.put('a.txt', 'first')
  const { id } = await share(own, 'a.txt')
  await own.put('a.txt', 'second')
  expect(await (await read(id, 'a.txt')).text()).toBe('second')
  await own.call(['locker:write'], 'DELETE', '/files/a.txt')
  const gone = await instance.send('GET', `/v1/shares/${id}/f/a.txt`)
  expectRefusal(gone, 404, 'FILE_NOT_FOUND')
  await own.put('a.txt', 'third')
  expect(await (await read(id, 'a.txt')).text()).toBe('third')
})

it('T-49 ADD-61 lost bytes are reported without the locker, and sent bytes count as its egress', async () => {
  const own = await instance.locker(ed25519Identity())
  await own.put('folder/a.txt', 'first')
  const { id } = await share(own, 'folder/')
  await (await read(id, 'a.txt')).text()
  await instance.gateway.context.egress.save()
  const { body } = await own.call<LockerUsage>(['locker:read'], 'GET', '/usage')
  expect(body.egress.used).toBe('first'.length)
  await own.call(['locker:write'], 'POST', '/files', { filename: 'folder/b.txt', content_type: 'text/plain' })
  const missing = await instance.send<{ error: string }>('GET', `/v1/shares/${id}/f/b.txt`)
  expectRefusal(missing, 404, 'CONTENT_NOT_FOUND')
  expect(JSON.stringify(missing.body)).not.toMatch(/locker_|rcpt_|folder/)
})
