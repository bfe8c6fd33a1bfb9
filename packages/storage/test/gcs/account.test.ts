import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forAllTests } from '@svc/devnet/for-tests'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fetchBytes, keep, newId } from '../objects.ts'
import { settingsFor, startTestGcs } from './start-gcs.ts'

const UPLOAD = { contentType: 'text/plain', expiresInSeconds: 60, size: 5, maxBytes: 100 }
const CLOSED = { name: 'ProviderError', reason: 'closed' }
const TOKEN = /^POST \/token/

const gcs = forAllTests(() => startTestGcs())
afterEach(() => {
  gcs.server.recover()
  gcs.server.setMaySign(true)
  vi.unstubAllEnvs()
})

const tokenRequests = () => gcs.server.requests.filter((line) => TOKEN.test(line)).length
const isThere = async () => (await gcs.provider.stat({ id: newId(), ref: null })) === null

/** Like a machine of Google's, whose metadata server issues tokens. */
async function onGooglesMachine() {
  const home = await mkdtemp(join(tmpdir(), 'svc-home-'))
  onTestFinished(() => rm(home, { recursive: true }))
  vi.stubEnv('HOME', home)
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '')
  vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present')
  vi.stubEnv('GCE_METADATA_HOST', gcs.server.url)
  return gcs.open({ credentials: null, redirect: 'all' })
}

describe('the Google Cloud Storage driver with the key of a service account', () => {
  it('requests one token at the address in the key file for concurrent calls', async () => {
    const provider = await gcs.open()
    const before = tokenRequests()
    await Promise.all(Array.from({ length: 20 }, () => provider.stat({ id: newId(), ref: null })))
    expect(tokenRequests() - before).toBe(1)
  })

  it('requests another token when the current one is no longer accepted', async () => {
    expect(await isThere()).toBe(true)
    const before = tokenRequests()
    gcs.server.revokeTokens()
    expect(await Promise.all([isThere(), isThere(), isThere()])).toEqual([true, true, true])
    expect(tokenRequests() - before).toBeLessThanOrEqual(3)
    const between = tokenRequests()
    expect(await isThere()).toBe(true)
    expect(tokenRequests()).toBe(between)
  })

  it('is closed when the key does not belong to the account, and shows no secret', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const private_key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string // the requested format
    const credentials = { ...settingsFor(gcs.server).credentials!, private_key }
    const provider = await gcs.open({ credentials })
    const failure: unknown = await provider.stat({ id: newId(), ref: null }).catch((error) => error)
    expect(failure).toMatchObject({ ...CLOSED, cause: { message: expect.stringContaining('invalid_grant') } })
    expect(Object.keys((failure as Error).cause as Error)).toEqual([])
    await expect(keep(provider, Buffer.alloc(10))).rejects.toMatchObject(CLOSED)
    expect(await provider.check()).toBe(false)
  })

  it('is unavailable while the token server fails', { tags: ['nightly'] }, async () => {
    for (const fault of [{ status: 503 }, 'lost answer', 'silence'] as const) {
      const provider = await gcs.open({}, fault === 'silence' ? { connectMs: 200 } : {})
      gcs.server.fail({ at: TOKEN, fault })
      await expect(provider.stat({ id: newId(), ref: null })).rejects.toMatchObject({ reason: 'unavailable' })
      gcs.server.recover()
      expect(await provider.stat({ id: newId(), ref: null })).toBeNull()
    }
  })
})

describe('the Google Cloud Storage driver with the credentials of the machine', () => {
  it('requests tokens from the metadata server', async () => {
    const provider = await onGooglesMachine()
    const key = await keep(provider, Buffer.from('kept'))
    expect(await fetchBytes(provider, key)).toEqual(Buffer.from('kept'))
  })

  it('lets IAM sign addresses, which work like those signed with the key', async () => {
    const provider = await onGooglesMachine()
    const id = newId()
    const { url, headers } = (await provider.uploadTarget(id, UPLOAD))!
    expect((await fetch(url, { method: 'PUT', headers, body: 'by IAM' })).status).toBe(200)
    expect(await fetchBytes(provider, { id, ref: null })).toEqual(Buffer.from('by IAM'))
    expect(gcs.server.requests.some((line) => line.endsWith(`${gcs.server.email}:signBlob`))).toBe(true)
  })

  it('FILE-35 ERR-26 distinguishes a denied signature from other failures of IAM', { tags: ['nightly'] }, async () => {
    const provider = await onGooglesMachine()
    gcs.server.setMaySign(false)
    const failures = [
      await provider.uploadTarget(newId(), UPLOAD).catch((error) => error),
      await provider.downloadTarget({ id: newId(), ref: null }, UPLOAD).catch((error) => error),
    ]
    for (const failure of failures) {
      const denied = { name: 'ProviderError', reason: 'signing-denied', message: 'the storage provider is closed' }
      expect(failure).toMatchObject(denied)
    }
    gcs.server.setMaySign(true)
    gcs.server.fail({ at: /signBlob/, fault: { status: 500 } })
    const other: unknown = await provider.uploadTarget(newId(), UPLOAD).catch((error) => error)
    expect(other).toMatchObject({ name: 'ProviderError', reason: 'unavailable' })
  })
})
