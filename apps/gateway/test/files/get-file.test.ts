import type { UrlSet } from '@svc/api/file-entries'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { ed25519PublicKey } from '@svc/protocol/keys'
import { readToken } from '@svc/protocol/short-url'
import { expect, it, onTestFinished } from 'vitest'
import { storeFile } from './files.ts'

const instance = forAllTests(openTestGateway)
const locker = forAllTests(() => instance.locker(ed25519Identity()))

const get = (path: string) => locker.call<UrlSet>(['locker:read'], 'GET', `/files/${path}`)

it('FILE-14 FILE-34 get mints fresh URLs each time, for this file alone', async () => {
  await storeFile(instance, locker, 'docs/a.txt', 'hello')
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
  const key = ed25519PublicKey(instance.gateway.context.signers.shortUrl.publicKey)!
  const urls = ({ body }: typeof first) => [body.upload_url, body.download_url, body.delete_url]
  expect(new Set([...urls(first), ...urls(second)]).size).toBe(6)
  for (const [i, method] of (['PUT', 'GET', 'DELETE'] as const).entries()) {
    const expires = instance.clock.now() / 1000 + 1800
    const token = readToken(urls(first)[i]?.split('/f/')[1] ?? '', key)
    expect(token).toMatchObject({ method, filename: 'docs/a.txt', lockerId: locker.lockerId, expires, provider: 1 })
  }
})

it('FILE-10 FILE-11 get accepts ttl_min in the query, from 1 to 1440', async () => {
  await storeFile(instance, locker, 'ttl', 'hello')
  expect((await get('ttl?ttl_min=1440')).body.urls_expire_in_sec).toBe(86_400)
  for (const value of ['0', '1441', '30m']) {
    const reply = await get(`ttl?ttl_min=${value}`)
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['query', 'ttl_min'] }] })
  }
})

it('FILE-15 FILE-31 getting a name without bytes answers 404 and says how to upload', async () => {
  const create = () => locker.call<UrlSet>(['locker:write'], 'POST', '/files', { filename: 'empty' })
  const first = await create()
  const reply = await get('empty')
  expectRefusal(reply, 404, 'CONTENT_NOT_FOUND')
  const advice = { recovery_hint: expect.any(String), next_best_method: `POST /v1/lockers/${locker.lockerId}/files` }
  expect(reply.body).toMatchObject({ details: { layer: 'provider', ...advice } })
  const { upload_url, upload_headers: headers } = (await create()).body
  expect(upload_url).not.toBe(first.body.upload_url)
  const target = instance.gateway.url + new URL(upload_url).pathname
  expect((await fetch(target, { method: 'PUT', headers, body: 'bytes' })).status).toBe(200)
  expect((await get('empty')).body).toMatchObject({ upload_url: expect.any(String), download_url: expect.any(String) })
})

it('FILE-15 getting a file whose object is lost answers 404 until the next upload, like an unknown name', async () => {
  const { object_id } = await storeFile(instance, locker, 'lost', 'hello')
  expect((await get('lost')).status).toBe(200)
  await instance.gateway.context.providers.named('gcs').remove({ id: object_id as string, ref: null })
  expectRefusal(await get('lost'), 404, 'CONTENT_NOT_FOUND')
  await storeFile(instance, locker, 'lost', 'hello again')
  expect((await get('lost')).status).toBe(200)
  expectRefusal(await get('unknown'), 404, 'FILE_NOT_FOUND')
})

it('FILE-09 AMB-24 get answers the type of the bytes, and the type of the next upload', async () => {
  await storeFile(instance, locker, 'typed', 'hello')
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'typed', content_type: 'text/html' })
  const { content_type, upload_headers } = (await get('typed')).body
  expect([content_type, upload_headers]).toEqual(['text/plain', { 'Content-Type': 'text/html' }])
})

it('AMB-22 a file stays reachable when the system prefix is set to another', async () => {
  const other = await openTestGateway({ SYSTEM_FILENAME_PREFIX: '.sys/' })
  onTestFinished(other.close)
  const own = await other.locker(ed25519Identity())
  const create = (filename: string) => own.call(['locker:write'], 'POST', '/files', { filename })
  expectRefusal(await create('.svc/a'), 422, 'validation_error')
  expect((await create('.sys/a')).status).toBe(200)
  await storeFile(other, own, '.svc/a', 'from before')
  expect((await own.call(['locker:read'], 'GET', '/files/.svc/a')).status).toBe(200)
  expect((await own.call(['locker:write'], 'DELETE', '/files/.svc/a')).status).toBe(200)
  expectRefusal(await own.call(['locker:read'], 'GET', '/files/.svc/a'), 422, 'validation_error')
})
