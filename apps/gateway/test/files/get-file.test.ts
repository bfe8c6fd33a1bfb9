import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ed25519PublicKey } from '@svc/protocol/keys'
import { readToken } from '@svc/protocol/short-url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { storeFile } from './files.ts'

interface UrlSet {
  filename: string
  content_type: string
  upload_headers: Record<string, string>
  upload_url: string
  download_url: string
  delete_url: string
  urls_expire_in_sec: number
}

let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(ed25519Identity())
})
afterAll(() => house.close())

const get = (path: string) => locker.call<UrlSet>(['locker:read'], 'GET', `/files/${path}`)
const lose = (objectId: string | null) =>
  house.gateway.context.providers.named('gcs').remove({ id: objectId as string, ref: null })

it('FILE-14 FILE-34 SHAPE-17 AMB-67 get mints fresh URLs each time, for this file alone', async () => {
  await storeFile(house, locker, 'docs/a.txt', 'hello')
  const ask = () => locker.call<UrlSet>(['locker:read', 'locker:write'], 'GET', '/files/docs/a.txt')
  const [first, second] = [await ask(), await ask()]
  expect(first.status).toBe(200)
  expect(first.body).toMatchObject({
    locker_id: locker.lockerId,
    filename: 'docs/a.txt',
    content_type: 'text/plain',
    upload_headers: { 'Content-Type': 'text/plain' },
    urls_expire_in_sec: 1800,
  })
  const key = ed25519PublicKey(house.gateway.context.signers.shortUrl.publicKey)
  if (!key) throw new Error('the gateway signs with no key')
  const urls = ({ body }: typeof first) => [body.upload_url, body.download_url, body.delete_url]
  expect(new Set([...urls(first), ...urls(second)]).size).toBe(6)
  for (const [i, method] of (['PUT', 'GET', 'DELETE'] as const).entries()) {
    const token = urls(first)[i]?.split('/f/')[1] ?? ''
    expect(readToken(token, key)).toMatchObject({
      method,
      filename: 'docs/a.txt',
      lockerId: locker.lockerId,
      expires: house.clock.now() / 1000 + 1800,
      provider: 1,
    })
  }
})

it('FILE-34 FILE-14 FILE-11 an expired short URL is replaced by getting the file', async () => {
  await storeFile(house, locker, 'expiring', 'hello')
  const download = async () => {
    const { pathname } = new URL((await get('expiring?ttl_min=1')).body.download_url)
    return () => fetch(house.gateway.url + pathname)
  }
  const first = await download()
  house.clock.advance(59)
  expect((await first()).status).toBe(200)
  house.clock.advance(1)
  const expired = await first()
  expect([expired.status, await expired.json()]).toMatchObject([403, { error: 'SHORT_URL_EXPIRED' }])
  const second = await download()
  expect(await (await second()).text()).toBe('hello')
  expect((await first()).status).toBe(403)
})

it('FILE-10 FILE-11 get takes ttl_min in the query', async () => {
  await storeFile(house, locker, 'ttl', 'hello')
  expect((await get('ttl?ttl_min=1')).body.urls_expire_in_sec).toBe(60)
  expect((await get('ttl?ttl_min=1440')).body.urls_expire_in_sec).toBe(86_400)
})

it.each(['0', '1441', '1.5', '30m', '', '-1', '1e1', '"30"', 'null', '1&ttl_min=1'])(
  'FILE-10 LIM-01 refuses ttl_min=%s',
  async (value) => {
    await storeFile(house, locker, 'ttl', 'hello')
    const reply = await get(`ttl?ttl_min=${value}`)
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['query', 'ttl_min'] }] })
  },
)

it('FILE-15 AMB-07 FILE-31 getting a name without bytes answers 404 and says how to upload', async () => {
  const create = () => locker.call<UrlSet>(['locker:write'], 'POST', '/files', { filename: 'empty' })
  const first = await create()
  const reply = await get('empty')
  expectRefusal(reply, 404, 'CONTENT_NOT_FOUND')
  expect(reply.body).toMatchObject({
    details: {
      layer: 'provider',
      recovery_hint: expect.any(String),
      next_best_method: `POST /v1/lockers/${locker.lockerId}/files`,
    },
  })
  const again = await create()
  expect(again.status).toBe(200)
  expect(again.body.upload_url).not.toBe(first.body.upload_url)
  const target = house.gateway.url + new URL(again.body.upload_url).pathname
  const uploaded = await fetch(target, { method: 'PUT', headers: again.body.upload_headers, body: 'bytes' })
  expect(uploaded.status).toBe(200)
  const found = await get('empty')
  expect([found.status, found.body]).toMatchObject([
    200,
    { upload_url: expect.any(String), download_url: expect.any(String) },
  ])
})

it('FILE-15 getting a file whose object is lost answers 404 until the next upload', async () => {
  const { object_id } = await storeFile(house, locker, 'lost', 'hello')
  expect((await get('lost')).status).toBe(200)
  await lose(object_id)
  expectRefusal(await get('lost'), 404, 'CONTENT_NOT_FOUND')
  await storeFile(house, locker, 'lost', 'hello again')
  expect((await get('lost')).status).toBe(200)
})

it('FILE-15 getting an unknown name answers FILE_NOT_FOUND', async () => {
  expectRefusal(await get('unknown'), 404, 'FILE_NOT_FOUND')
})

it('FILE-09 AMB-24 get answers the type of the bytes, and the type of the next upload', async () => {
  await storeFile(house, locker, 'typed', 'hello')
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'typed', content_type: 'text/html' })
  const { content_type, upload_headers } = (await get('typed')).body
  expect([content_type, upload_headers]).toEqual(['text/plain', { 'Content-Type': 'text/html' }])
})

it('FILE-14 get needs locker:read', async () => {
  await storeFile(house, locker, 'guarded', 'hello')
  const reply = await locker.call(['locker:write', 'locker:list'], 'GET', '/files/guarded')
  expectRefusal(reply, 403, 'MISSING_OPS')
})

it('GEN-11 FILE-31 a storage error answers 503 without naming the storage', async () => {
  const { object_id } = await storeFile(house, locker, 'unreachable', 'hello')
  const folder = join(house.gateway.context.config.storage.localFolder, 'objects', (object_id as string).slice(0, 2))
  await rm(folder, { recursive: true })
  await writeFile(folder, 'where a folder should be')
  const reply = await get('unreachable')
  await rm(folder)
  expectRefusal(reply, 503, 'STORAGE_UNAVAILABLE')
  expect(reply.body).toMatchObject({ details: { layer: 'provider' } })
  expect(JSON.stringify(reply.body)).not.toMatch(/ENOTDIR|objects|\blocal\b|gcs/)
})

it('LIM-11 each get counts against the limit of its signer', async () => {
  const limited = await openLockerHouse({ RATE_LIMIT_SIGNER: '1' })
  try {
    const locker = await limited.locker(ed25519Identity())
    await storeFile(limited, locker, 'a', 'hello')
    const get = () => locker.call(['locker:read'], 'GET', '/files/a')
    expect((await get()).status).toBe(200)
    expectRefusal(await get(), 429, 'RATE_LIMITED')
  } finally {
    await limited.close()
  }
})

it('AMB-22 a file stays reachable when the system prefix is set to another', async () => {
  const other = await openLockerHouse({ SYSTEM_FILENAME_PREFIX: '.sys/' })
  try {
    const locker = await other.locker(ed25519Identity())
    const create = (filename: string) => locker.call(['locker:write'], 'POST', '/files', { filename })
    expectRefusal(await create('.svc/a'), 422, 'validation_error')
    expect((await create('.sys/a')).status).toBe(200)
    await storeFile(other, locker, '.svc/a', 'from before')
    expect((await locker.call(['locker:read'], 'GET', '/files/.svc/a')).status).toBe(200)
    expect((await locker.call(['locker:write'], 'DELETE', '/files/.svc/a')).status).toBe(200)
    expectRefusal(await locker.call(['locker:read'], 'GET', '/files/.svc/a'), 422, 'validation_error')
  } finally {
    await other.close()
  }
})
