// One gateway with all providers, configured by settings as an admin does it.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSlow, PROVIDERS, type Provider } from '@svc/api/providers'
import { forAllTests } from '@svc/devnet/for-tests'
import { startArweaveServer } from '@svc/devnet/providers/arweave/start'
import { startFilecoinServer } from '@svc/devnet/providers/filecoin/start'
import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { startS3BucketServer } from '@svc/devnet/providers/s3-bucket/start'
import { gcsUrl, s3Url } from '@svc/devnet/providers/store-urls'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { publicBytes } from '../adapters/http/sessions/sessions.ts'
import { manifestOf } from './confirm/confirm.ts'

interface Store {
  /** The setting of its provider. */
  url: string
  stop(): Promise<unknown>
}

const s3Bucket = async (folder: string): Promise<Store> => {
  const server = await startS3BucketServer({ folder })
  return { url: s3Url(server), stop: server.stop }
}

/** A local store for each provider. */
const stores: Record<Provider, (folder: string) => Promise<Store>> = {
  async gcs(folder) {
    const server = await startGcsServer({ folder })
    return { url: gcsUrl(server), stop: server.stop }
  },
  mongodb: (folder) => startMongodbServer({ folder }),
  storj: s3Bucket,
  async arweave() {
    const { uploadUrl, gateways, stop } = await startArweaveServer()
    const options = [['key', '07'.repeat(32)], ...gateways.map((gateway) => ['gateway', gateway])]
    return { url: `${uploadUrl}?${new URLSearchParams(options)}`, stop }
  },
  async filecoin(folder) {
    const { url, chainId, rpcUrl, recordKeeper, payee, stop } = await startFilecoinServer({ folder, looks: 0 })
    const options = { key: '5c'.repeat(32), chain: String(chainId), rpc: rpcUrl, record_keeper: recordKeeper, payee }
    return { url: `${url}?${new URLSearchParams(options)}`, stop }
  },
  async firestore() {
    const { address, stop } = await startFirestoreServer()
    return { url: `firestore:svc-test?emulator=${address}`, stop }
  },
}

const instance = forAllTests(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-providers-'))
  const started = await Promise.all(
    PROVIDERS.map(async (name) => ({ name, ...(await stores[name](join(folder, name))) })),
  )
  const opened = await openTestGateway({
    LOCAL_PROVIDERS: '',
    STAGING_DIR: join(folder, 'staging'),
    ...Object.fromEntries(started.map(({ name, url }) => [name.toUpperCase(), url])),
  })
  async function close() {
    await opened.close()
    for (const store of started) await store.stop()
    await rm(folder, { recursive: true })
  }
  return { ...opened, folder, close }
})

async function staged(): Promise<number> {
  const entries = await readdir(join(instance.folder, 'staging'), { recursive: true, withFileTypes: true })
  return entries.filter((one) => one.isFile()).length
}

it.each(PROVIDERS)('FILE-01 FILE-30 %s stores a file, and removes its bytes where it can', async (provider) => {
  const isStaged = isSlow(provider)
  const locker = await instance.locker(ed25519Identity(), { provider })
  const refOf = async () => (await manifestOf(locker)).files[0]!.provider_ref
  const expectReadable = async () =>
    expect(`${await publicBytes(instance, locker, 'a.txt')}`).toBe(`kept at ${provider}`)
  await locker.put('a.txt', `kept at ${provider}`)
  await expectReadable()
  expect([await refOf(), await staged()]).toEqual([null, isStaged ? 1 : 0])
  for (let runs = 0; isStaged && runs < 5 && (await refOf()) === null; runs++) {
    await instance.gateway.context.queue.drain()
    instance.clock.advance(3600)
  }
  if (isStaged) expect(await refOf()).toMatch(/^[\w?=-]{43,}$/)
  expect(await staged()).toBe(0)
  await expectReadable()
  const { body } = await locker.call<object>(['locker:write'], 'DELETE', '/files/a.txt')
  expect(body).toMatchObject({ deleted: true, bytes_removed: !isStaged })
})
