import { gzipSync } from 'node:zlib'
import type { ErrorBody } from '@svc/api/errors'
import type { UrlSet } from '@svc/api/file-entries'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { gcsUrl } from '@svc/devnet/providers/store-urls'
import { ed25519Identity, expectRefusal, openTestGateway, type Reply } from '@svc/devnet/services/test-gateway'
import type { Variables } from '@svc/service/program/config'
import { expect, it, onTestFinished, vi } from 'vitest'
import { confirm, confirmBatch } from '../../files/confirm/confirm.ts'
import { newFolder, stores } from './object-stores.ts'
import { rowOf, sha256 } from './transfers.ts'

const PROVIDERS = Object.keys(stores)
const ORDER = { filename: 'a.txt', content_type: 'text/plain' }
/** Words in the signed URLs of both providers. */
const PROVIDER_WORDS = ['googleapis', 'storjshare', 'X-Amz-', 'X-Goog-Signature', 'X-Goog-Credential']

async function openAt(provider: string, variables: Variables) {
  const instance = await openTestGateway({ ...variables, LOCAL_PROVIDERS: '' })
  onTestFinished(() => instance.close())
  const locker = await instance.locker(ed25519Identity(), { provider })
  const here = (url: string) => instance.gateway.url + new URL(url).pathname
  const create = () => locker.call<UrlSet>(['locker:write'], 'POST', '/files', ORDER)
  const link = `${instance.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`
  const store = new URL((variables.GCS ?? variables.STORJ)!)
  const { host } = new URL(store.searchParams.get('endpoint') ?? store)
  const bucket = variables.GCS ? store.host : store.pathname.split('/')[1]
  return { instance, locker, here, create, link, host, bucket }
}

it.each(PROVIDERS)('GEN-11 without redirects, no response names %s', async (provider) => {
  const variables = await stores[provider]!('off')
  const { instance, locker, here, link, host, bucket } = await openAt(provider, variables)
  await locker.put('a.txt', 'hello')
  const { body } = await locker.call<UrlSet>(['locker:read', 'locker:write'], 'GET', '/files/a.txt')
  expect(body.upload_headers).toEqual({ 'Content-Type': 'text/plain' })
  const reads = await Promise.all([here(body.download_url), link].map((url) => fetch(url, { redirect: 'manual' })))
  for (const read of reads) expect([read.status, await read.text()]).toEqual([200, 'hello'])
  const { object_id } = await rowOf(instance, locker, 'a.txt')
  const shown = JSON.stringify([body, ...reads.map(({ headers }) => [...headers])])
  for (const secret of [host, bucket, object_id, 'x-goog-', 'x-amz-']) expect(shown).not.toContain(secret)
})

it.each(PROVIDERS)('SHORT-11 SHORT-13 a client uploads to %s, once', async (provider) => {
  const variables = { ...(await stores[provider]!()), MAX_UPLOAD_BYTES: '40' }
  const { instance, locker, here, create } = await openAt(provider, variables)
  const made = (await create()).body
  const { upload_url, upload_headers: headers } = made
  expect(Object.keys(headers)).toHaveLength(provider === 'gcs' ? 3 : 2)
  const sent = await fetch(here(upload_url), { method: 'PUT', headers, body: 'hello', redirect: 'manual' })
  expect([sent.status, sent.headers.get('content-type')]).toEqual([307, 'text/plain'])
  const address = sent.headers.get('location')!
  // Only the redirect names the provider.
  expect(JSON.stringify(made)).not.toContain(new URL(address).host)
  const put = (bytes: string, withHeaders = headers) =>
    fetch(address, { method: 'PUT', headers: withHeaders, body: bytes })
  expect((await put('bare', { 'content-type': 'text/plain' })).status).toBe(403)
  expect((await put('more than was announced, and than a file may have')).status).toBe(provider === 'gcs' ? 400 : 403)
  expect((await put('hello')).status).toBe(200)
  expect((await put('other')).status).toBe(412)
  const { body } = await confirm(instance, locker, 'a.txt')
  expect(body.content_hash).toBe(`sha256:${sha256('hello')}`)
})

it.each(PROVIDERS)('T-50 SHORT-13 compressed bytes at %s are hashed and read as they were sent', async (provider) => {
  const { instance, locker, here, create, link } = await openAt(provider, await stores[provider]!())
  const { upload_url, download_url, upload_headers: headers } = (await create()).body
  const bytes = gzipSync('hello '.repeat(100))
  const put = (address: string, more: RequestInit) => fetch(address, { method: 'PUT', body: bytes, ...more })
  const sent = await put(here(upload_url), { headers, redirect: 'manual' })
  const encoded = { ...headers, 'content-encoding': 'gzip' }
  expect((await put(sent.headers.get('location')!, { headers: encoded })).status).toBe(200)
  const asSent = { content_hash: `sha256:${sha256(bytes)}`, size_bytes: bytes.length }
  expect((await confirm(instance, locker, 'a.txt')).body).toMatchObject(asSent)
  for (const address of [here(download_url), link]) {
    const read = await fetch(address)
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true)
  }
})

it.each(PROVIDERS)(
  'SHORT-13 T-139 no response body contains the address of %s',
  { tags: ['nightly'] },
  async (provider) => {
    const { instance, locker, here, create, host } = await openAt(provider, await stores[provider]!())
    const { receiptId, lockerId, owner } = locker
    const created = await create()
    const { upload_url, download_url, upload_headers: headers } = created.body
    const answers: Reply<unknown>[] = [created]
    const ask = async (op: string, method: string, path: string, body?: object) =>
      answers.push(await locker.call([`locker:${op}`], method, path, body))
    const signed = { lockerId, receiptId, ops: ['locker:read', 'locker:attest'] }
    await ask('write', 'POST', '/files/batch', { files: [{ ...ORDER, filename: 'b.txt' }] })
    expect((await fetch(here(upload_url), { method: 'PUT', headers, body: 'hello' })).status).toBe(200)
    answers.push(await confirm(instance, locker, 'a.txt'), await confirmBatch(instance, locker, ['a.txt', 'b.txt']))
    for (const path of ['/files/a.txt', '/urls', '/manifest', '/record']) await ask('read', 'GET', path)
    await ask('list', 'GET', '/files')
    await ask('read', 'POST', '/files/urls', { filenames: ['a.txt', 'none'] })
    const attest = `/v1/storage/attest?receipt_id=${receiptId}&sync=true`
    answers.push(await instance.call(owner, { ...signed, method: 'POST', path: attest }))
    answers.push(await instance.call(owner, { ...signed, method: 'GET', path: `/v1/storage/metadata/${lockerId}` }))
    for (const name of ['verify', 'evidence-bundle', 'verification-bundle', 'recompute-verify'])
      answers.push(await instance.send('GET', `/v1/storage/${name}?receipt_id=${receiptId}`))
    answers.push(
      await instance.send('GET', `/v1/retrieve?receipt_id=${receiptId}`),
      await instance.send('GET', '/health'),
    )
    const download = () => fetch(here(download_url), { redirect: 'manual' })
    const moved = await download()
    // Only the header of a redirect may name the provider.
    expect(moved.headers.get('location')).toContain(host)
    await ask('write', 'DELETE', '/files/a.txt')
    for (const { status, body } of answers) expect(status, JSON.stringify(body)).toBe(200)
    const missing = await confirm(instance, locker, 'b.txt')
    const bodies = [...answers, missing].map(({ body }) => JSON.stringify(body))
    for (const body of [...bodies, await moved.text(), await (await download()).text()])
      for (const secret of [host, ...PROVIDER_WORDS]) expect(body).not.toContain(secret)
  },
)

it('FILE-35 ERR-26 a gateway without permission to sign URLs answers 500 with its own code', async () => {
  const server = await startGcsServer({ folder: await newFolder() })
  onTestFinished(server.stop)
  // Like a Google machine: tokens come from the metadata server and signatures from IAM.
  const machine = {
    HOME: await newFolder(),
    GOOGLE_APPLICATION_CREDENTIALS: '',
    METADATA_SERVER_DETECTION: 'assume-present',
    GCE_METADATA_HOST: server.url,
  }
  for (const [name, value] of Object.entries(machine)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { url, bucket } = server
  const { instance, create } = await openAt('gcs', { GCS: gcsUrl({ url, bucket }, { redirect: 'all' }) })
  const { upload_url, download_url } = (await create()).body
  const [upload, download] = [upload_url, download_url].map((url) => new URL(url).pathname) as [string, string]
  const put = (path: string) =>
    instance.send<ErrorBody>('PUT', path, Buffer.from('hello'), { 'content-type': 'text/plain' })
  expect((await put(`${upload}?proxy=1`)).status).toBe(200)
  server.setMaySign(false)
  for (const refused of [await put(upload), await instance.send<ErrorBody>('GET', download)]) {
    expectRefusal(refused, 500, 'IAM_SIGNBLOB_PERMISSION_DENIED')
    expect(refused.body.details).toMatchObject({ layer: 'provider', next_best_method: 'none' })
    expect(JSON.stringify(refused.body)).not.toMatch(/google|gserviceaccount|bucket|127\.0\.0\.1/i)
  }
})
