import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ErrorBody } from '@svc/api/errors'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { startStorjServer } from '@svc/devnet/providers/storj/start'
import type { Variables } from '@svc/http-service/config'
import { expect, it, onTestFinished, vi } from 'vitest'
import { ed25519Identity, expectRefusal, openLockerHouse } from '../auth/lockers.ts'
import { sha256 } from './transfers.ts'

const stores: Record<string, () => Promise<Variables>> = {
  async gcs() {
    const { url, bucket, keyFile, stop } = await startGcsServer({ folder: await newFolder() })
    onTestFinished(stop)
    return {
      GCS_BUCKET: bucket,
      GCS_CREDENTIALS: keyFile,
      GCS_ENDPOINT: url,
      GCS_IAM_ENDPOINT: url,
      GCS_REDIRECT: 'all',
    }
  },
  async storj() {
    const { url, bucket, credentials, stop } = await startStorjServer({ folder: await newFolder() })
    onTestFinished(stop)
    return {
      STORJ_BUCKET: bucket,
      STORJ_ENDPOINT: url,
      STORJ_ACCESS_KEY_ID: credentials.accessKeyId,
      STORJ_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      STORJ_REDIRECT: 'all',
    }
  },
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-store-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

it.each(Object.keys(stores))(
  'SHORT-09 SHORT-11 SHORT-13 AMB-61 a client that sends upload_headers may upload once to %s',
  async (provider) => {
    const house = await openLockerHouse({ ...(await stores[provider]!()), LOCAL_PROVIDERS: '' })
    onTestFinished(() => house.close())
    const locker = await house.locker(ed25519Identity(), { provider })
    const order = { filename: 'a.txt', content_type: 'text/plain' }
    const made = await locker.call<{ upload_url: string; upload_headers: Record<string, string> }>(
      ['locker:write'],
      'POST',
      '/files',
      order,
    )
    const { upload_url, upload_headers: headers } = made.body
    expect(Object.keys(headers)).toHaveLength(2)
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
    expect((await put('hello')).status).toBe(200)
    expect((await put('changed afterwards')).status).toBe(412)
    const hash = sha256(body)
    const about = new URLSearchParams({ receipt_id: locker.receiptId, filename: 'a.txt' })
    const confirmed = await house.send('POST', `/v1/files/confirm?${about}`)
    expect(confirmed.body).toMatchObject({ content_hash: expect.stringContaining(hash) })
  },
)

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
  const { body: urls } = await locker.call<{ upload_url: string; download_url: string }>(
    ['locker:write'],
    'POST',
    '/files',
    order,
  )
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
