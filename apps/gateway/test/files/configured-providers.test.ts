// One gateway with all six providers, configured as an operator does it.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROVIDERS } from '@svc/api/purchases'
import { startArweaveServer } from '@svc/devnet/providers/arweave/start'
import { startFilecoinServer } from '@svc/devnet/providers/filecoin/start'
import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { startStorjServer } from '@svc/devnet/providers/storj/start'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'

const SLOW = ['arweave', 'filecoin']

let folder: string
let stops: (() => Promise<void>)[]
let house: LockerHouse
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-six-'))
  const at = (name: string) => ({ folder: join(folder, name) })
  const [gcs, mongodb, storj, arweave, filecoin, firestore] = await Promise.all([
    startGcsServer(at('gcs')),
    startMongodbServer(at('mongodb')),
    startStorjServer(at('storj')),
    startArweaveServer(),
    startFilecoinServer({ ...at('filecoin'), looks: 0 }),
    startFirestoreServer(),
  ])
  stops = [gcs, mongodb, storj, arweave, filecoin, firestore].map((server) => () => server.stop())
  house = await openLockerHouse({
    LOCAL_PROVIDERS: '',
    STAGING_DIR: join(folder, 'staging'),
    GCS_BUCKET: gcs.bucket,
    GCS_CREDENTIALS: gcs.keyFile,
    GCS_ENDPOINT: gcs.url,
    GCS_IAM_ENDPOINT: gcs.url,
    MONGODB_URL: mongodb.url,
    STORJ_BUCKET: storj.bucket,
    STORJ_ENDPOINT: storj.url,
    STORJ_ACCESS_KEY_ID: storj.credentials.accessKeyId,
    STORJ_SECRET_ACCESS_KEY: storj.credentials.secretAccessKey,
    ARWEAVE_UPLOAD_URL: arweave.uploadUrl,
    ARWEAVE_GATEWAYS: arweave.gateways.join(','),
    ARWEAVE_KEY: '07'.repeat(32),
    FILECOIN_PDP_URL: filecoin.url,
    FILECOIN_RPC_URL: filecoin.rpcUrl,
    FILECOIN_CHAIN_ID: String(filecoin.chainId),
    FILECOIN_RECORD_KEEPER: filecoin.recordKeeper,
    FILECOIN_PAYEE: filecoin.payee,
    FILECOIN_KEY: '5c'.repeat(32),
    FIRESTORE_PROJECT: 'svc-test',
    FIRESTORE_EMULATOR: firestore.address,
  })
})
afterAll(async () => {
  await house.close()
  for (const stop of stops) await stop()
  await rm(folder, { recursive: true })
})

interface Entry {
  filename: string
  provider_ref: string | null
  content_hash: string
}

async function entry(locker: TestLocker): Promise<Entry> {
  const { body } = await locker.call<{ files: Entry[] }>(['locker:read'], 'GET', '/manifest')
  return body.files[0]!
}

async function staged(): Promise<number> {
  const entries = await readdir(join(folder, 'staging'), { recursive: true, withFileTypes: true })
  return entries.filter((one) => one.isFile()).length
}

const publicly = (locker: TestLocker) =>
  fetch(`${house.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`).then((answer) => answer.text())

it('VER-20 /health reports that all six providers answer', async () => {
  const look = async () => {
    house.clock.advance(11)
    return (await house.send<{ providers: object }>('GET', '/health')).body.providers
  }
  await expect.poll(look).toEqual(Object.fromEntries(PROVIDERS.map((provider) => [provider, 'ok'])))
})

it.each(PROVIDERS)('FILE-01 FILE-30 SHAPE-23 %s keeps a file, and removes its bytes where it can', async (provider) => {
  const isSlow = SLOW.includes(provider)
  const locker = await house.locker(ed25519Identity(), { provider })
  await locker.put('a.txt', `kept at ${provider}`)
  expect(await publicly(locker)).toBe(`kept at ${provider}`)
  expect((await entry(locker)).provider_ref).toBeNull()
  expect(await staged()).toBe(isSlow ? 1 : 0)
  for (let runs = 0; isSlow && runs < 5 && (await entry(locker)).provider_ref === null; runs++) {
    await house.gateway.context.queue.drain()
    house.clock.advance(3600)
  }
  if (isSlow) expect((await entry(locker)).provider_ref).toMatch(/^[\w?=-]{43,}$/)
  expect(await staged()).toBe(0)
  expect(await publicly(locker)).toBe(`kept at ${provider}`)
  const { body } = await locker.call<object>(['locker:write'], 'DELETE', '/files/a.txt')
  expect(body).toMatchObject({ deleted: true, bytes_removed: !isSlow })
})
