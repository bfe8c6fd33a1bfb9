import { gzipSync } from 'node:zlib'
import type { ErrorBody } from '@svc/api/errors'
import type { UrlSet } from '@svc/api/file-entries'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import type { Variables } from '@svc/http-service/config'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ed25519Identity, expectRefusal, openLockerHouse } from '../auth/lockers.ts'
import { confirm, confirmBatch } from '../files/confirm/confirm.ts'
import { newFolder, stores } from './object-stores.ts'
import { rowOf, sha256 } from './transfers.ts'

const PROVIDERS = Object.keys(stores)

it.each(PROVIDERS)('GEN-11 AMB-21 without redirects, nothing names %s', async (provider) => {
  const variables = await stores[provider]!('off')
  const house = await openLockerHouse({ ...variables, LOCAL_PROVIDERS: '' })
  onTestFinished(() => house.close())
  const locker = await house.locker(ed25519Identity(), { provider })
  await locker.put('a.txt', 'hello')
  const { body } = await locker.call<Record<string, string>>(['locker:read', 'locker:write'], 'GET', '/files/a.txt')
  expect(body.upload_headers).toEqual({ 'Content-Type': 'text/plain' })
  const paths = [new URL(body.download_url!).pathname, `/v1/r/${locker.receiptId}/f/a.txt`]
  const reads = await Promise.all(paths.map((path) => fetch(house.gateway.url + path, { redirect: 'manual' })))
  for (const read of reads) expect([read.status, await read.text()]).toEqual([200, 'hello'])
  const { object_id } = await rowOf(house, locker, 'a.txt')
  const { GCS_BUCKET, GCS_ENDPOINT, STORJ_BUCKET, STORJ_ENDPOINT } = variables
  const { host } = new URL((GCS_ENDPOINT ?? STORJ_ENDPOINT)!)
  const shown = JSON.stringify([body, ...reads.map(({ headers }) => [...headers])])
  for (const secret of [host, GCS_BUCKET ?? STORJ_BUCKET, object_id, 'x-goog-', 'x-amz-'])
    expect(shown).not.toContain(secret)
})

it.each(PROVIDERS)(
  'SHORT-09 SHORT-11 SHORT-13 AMB-61 T-50 a client uploads once to %s, and not too much',
  async (provider) => {
    const house = await openLockerHouse({ ...(await stores[provider]!()), LOCAL_PROVIDERS: '', MAX_UPLOAD_BYTES: '40' })
    onTestFinished(() => house.close())
    const locker = await house.locker(ed25519Identity(), { provider })
    const order = { filename: 'a.txt', content_type: 'text/plain' }
    const made = await locker.call<UrlSet>(['locker:write'], 'POST', '/files', order)
    const { upload_url, upload_headers: headers } = made.body
    expect(Object.keys(headers)).toHaveLength(provider === 'gcs' ? 3 : 2)
    const upload = house.gateway.url + new URL(upload_url).pathname
    const body = Buffer.from('hello')
    const sent = await fetch(upload, { method: 'PUT', headers, body, redirect: 'manual' })
    expect([sent.status, sent.headers.get('content-type')]).toEqual([307, 'text/plain'])
    const address = sent.headers.get('location')!
    // Only the redirect names the provider.
    expect(JSON.stringify(made.body)).not.toContain(new URL(address).host)
    const put = (bytes: string, withHeaders = headers) =>
      fetch(address, { method: 'PUT', headers: withHeaders, body: bytes })
    expect((await put('bare', { 'content-type': 'text/plain' })).status).toBe(403)
    expect((await put('more than was announced, and than a file may have')).status).toBe(provider === 'gcs' ? 400 : 403)
    expect((await put('hello')).status).toBe(200)
    expect((await put('other')).status).toBe(412)
    const hash = sha256(body)
    expect((await confirm(house, locker, 'a.txt')).body).toMatchObject({ content_hash: expect.stringContaining(hash) })
  },
)

it.each(PROVIDERS)('T-176 SHORT-13 compressed bytes at %s are hashed and read as they were sent', async (provider) => {
  const house = await openLockerHouse({ ...(await stores[provider]!()), LOCAL_PROVIDERS: '' })
  onTestFinished(() => house.close())
  const locker = await house.locker(ed25519Identity(), { provider })
  const order = { filename: 'a.txt', content_type: 'text/plain' }
  const { body: made } = await locker.call<UrlSet>(['locker:write'], 'POST', '/files', order)
  const path = (url: string) => house.gateway.url + new URL(url).pathname
  const bytes = gzipSync('hello '.repeat(100))
  const headers = made.upload_headers
  const put = (address: string, more: RequestInit) => fetch(address, { method: 'PUT', body: bytes, ...more })
  const sent = await put(path(made.upload_url), { headers, redirect: 'manual' })
  const encoded = { ...headers, 'content-encoding': 'gzip' }
  expect((await put(sent.headers.get('location')!, { headers: encoded })).status).toBe(200)
  const asSent = { content_hash: `sha256:${sha256(bytes)}`, size_bytes: bytes.length }
  expect((await confirm(house, locker, 'a.txt')).body).toMatchObject(asSent)
  for (const address of [path(made.download_url), `${house.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`]) {
    const read = await fetch(address)
    expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true)
  }
})

it.each(PROVIDERS)('SHORT-13 T-31 no answer holds the address of %s', { tags: ['nightly'] }, async (provider) => {
  const variables = await stores[provider]!()
  const house = await openLockerHouse({ ...variables, LOCAL_PROVIDERS: '' })
  onTestFinished(() => house.close())
  const locker = await house.locker(ed25519Identity(), { provider })
  const { receiptId, lockerId } = locker
  const bodies: Record<string, unknown> = {}
  const keep = async (name: string, answer: Promise<{ status: number; body: unknown }>, status = 200) => {
    const { body, status: found } = await answer
    expect(found, `${name} ${JSON.stringify(body)}`).toBe(status)
    bodies[name] = body
    return body
  }
  const order = { filename: 'a.txt', content_type: 'text/plain' }
  const made = (await keep('create', locker.call(['locker:write'], 'POST', '/files', order))) as UrlSet
  const batch = { files: [{ filename: 'b.txt', content_type: 'text/plain' }] }
  await keep('create batch', locker.call(['locker:write'], 'POST', '/files/batch', batch))
  const path = (url: string) => house.gateway.url + new URL(url).pathname
  const sent = await fetch(path(made.upload_url), { method: 'PUT', headers: made.upload_headers, body: 'hello' })
  expect(sent.status).toBe(200)
  await keep('confirm', confirm(house, locker, 'a.txt'))
  await keep('confirm what is not there', confirm(house, locker, 'b.txt'), 404)
  await keep('confirm batch', confirmBatch(house, locker, ['a.txt', 'b.txt']))
  await keep('get', locker.call(['locker:read'], 'GET', '/files/a.txt'))
  await keep('list', locker.call(['locker:list'], 'GET', '/files'))
  await keep('urls', locker.call(['locker:read'], 'POST', '/files/urls', { filenames: ['a.txt', 'none'] }))
  await keep('locker urls', locker.call(['locker:read'], 'GET', '/urls'))
  await keep('manifest', locker.call(['locker:read'], 'GET', '/manifest'))
  await keep('record', locker.call(['locker:read'], 'GET', '/record'))
  const signed = { lockerId, receiptId }
  const attesting = { ...signed, method: 'POST', path: `/v1/storage/attest?receipt_id=${receiptId}&sync=true` }
  await keep('attest', house.call(locker.owner, { ...attesting, ops: ['locker:attest'] }))
  const metadata = { ...signed, method: 'GET', path: `/v1/storage/metadata/${lockerId}`, ops: ['locker:read'] }
  await keep('metadata', house.call(locker.owner, metadata))
  for (const name of ['verify', 'evidence-bundle', 'verification-bundle', 'recompute-verify'])
    await keep(name, house.send('GET', `/v1/storage/${name}?receipt_id=${receiptId}`))
  await keep('retrieve', house.send('GET', `/v1/retrieve?receipt_id=${receiptId}`))
  const download = () => fetch(path(made.download_url), { redirect: 'manual' })
  const moved = await download()
  // The header of a redirect is the one place that may name the provider.
  expect(moved.headers.get('location')).toContain(new URL(addressOf(variables)).host)
  bodies['the body of a redirect'] = await moved.text()
  await keep('delete', locker.call(['locker:write'], 'DELETE', '/files/a.txt'))
  bodies['a file that is gone'] = await (await download()).text()
  await keep('health', house.send('GET', '/health'))
  const secrets = [new URL(addressOf(variables)).host, ...PROVIDER_WORDS]
  for (const [name, body] of Object.entries(bodies))
    for (const secret of secrets) expect(JSON.stringify(body), name).not.toContain(secret)
})

const addressOf = ({ GCS_ENDPOINT, STORJ_ENDPOINT }: Variables) => (GCS_ENDPOINT ?? STORJ_ENDPOINT) as string
/** What signed URLs of the two are made of. */
const PROVIDER_WORDS = ['googleapis', 'storjshare', 'X-Amz-', 'X-Goog-Signature', 'X-Goog-Credential']

it('FILE-35 ERR-26 T-31 a gateway that may not sign addresses answers 500 with its own code, and nothing of the provider', async () => {
  const server = await startGcsServer({ folder: await newFolder() })
  onTestFinished(server.stop)
  // As on a machine of Google's: tokens come from the metadata server, and signatures from IAM.
  const machine = {
    HOME: await newFolder(),
    GOOGLE_APPLICATION_CREDENTIALS: '',
    METADATA_SERVER_DETECTION: 'assume-present',
    GCE_METADATA_HOST: server.url,
  }
  for (const [name, value] of Object.entries(machine)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const house = await openLockerHouse({
    GCS_BUCKET: server.bucket,
    GCS_ENDPOINT: server.url,
    GCS_IAM_ENDPOINT: server.url,
    GCS_REDIRECT: 'all',
    LOCAL_PROVIDERS: '',
  })
  onTestFinished(() => house.close())
  const locker = await house.locker(ed25519Identity(), { provider: 'gcs' })
  const order = { filename: 'a.txt', content_type: 'text/plain' }
  const { body: urls } = await locker.call<UrlSet>(['locker:write'], 'POST', '/files', order)
  const pathOf = (url: string) => new URL(url).pathname
  const type = { 'content-type': 'text/plain' }
  const stored = await house.send('PUT', `${pathOf(urls.upload_url)}?proxy=1`, Buffer.from('hello'), type)
  expect(stored.status).toBe(200)

  server.setMaySign(false)
  for (const refused of [
    await house.send<ErrorBody>('PUT', pathOf(urls.upload_url), Buffer.from('again'), type),
    await house.send<ErrorBody>('GET', pathOf(urls.download_url)),
  ]) {
    expectRefusal(refused, 500, 'IAM_SIGNBLOB_PERMISSION_DENIED')
    expect(refused.body.details).toMatchObject({ layer: 'provider', next_best_method: 'none' })
    expect(JSON.stringify(refused.body)).not.toMatch(/google|gserviceaccount|bucket|127\.0\.0\.1/i)
  }
})
