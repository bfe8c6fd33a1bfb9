// One gateway with all six providers, configured as an operator does it.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROVIDERS } from '@svc/api/purchases'
import { forAllTests } from '@svc/devnet/for-tests'
import { startArweaveServer } from '@svc/devnet/providers/arweave/start'
import { startFilecoinServer } from '@svc/devnet/providers/filecoin/start'
import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { gcsUrl, s3Url } from '@svc/devnet/providers/store-urls'
import { startStorjServer } from '@svc/devnet/providers/storj/start'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { publicBytes } from '../adapters/http/sessions/sessions.ts'
import { manifestOf } from './confirm/confirm.ts'

const SLOW = ['arweave', 'filecoin']

const house = forAllTests(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-six-'))
  const at = (name: string) => ({ folder: join(folder, name) })
  const [gcs, mongodb, storj, arweave, filecoin, firestore] = await Promise.all([
    startGcsServer(at('gcs')),
    startMongodbServer(at('mongodb')),
    startStorjServer(at('storj')),
    startArweaveServer(),
    startFilecoinServer({ ...at('filecoin'), looks: 0 }),
    startFirestoreServer(),
  ])
  const gateways = arweave.gateways.map((gateway) => ['gateway', gateway])
  const opened = await openTestGateway({
    LOCAL_PROVIDERS: '',
    STAGING_DIR: join(folder, 'staging'),
    GCS: gcsUrl(gcs),
    MONGODB: mongodb.url,
    STORJ: s3Url(storj),
    ARWEAVE: `${arweave.uploadUrl}?${new URLSearchParams([['key', '07'.repeat(32)], ...gateways])}`,
    FILECOIN: `${filecoin.url}?${new URLSearchParams({
      key: '5c'.repeat(32),
      chain: String(filecoin.chainId),
      rpc: filecoin.rpcUrl,
      record_keeper: filecoin.recordKeeper,
      payee: filecoin.payee,
    })}`,
    FIRESTORE: `firestore:svc-test?emulator=${firestore.address}`,
  })
  async function close() {
    await opened.close()
    for (const server of [gcs, mongodb, storj, arweave, filecoin, firestore]) await server.stop()
    await rm(folder, { recursive: true })
  }
  return { ...opened, folder, close }
})

async function staged(): Promise<number> {
  const entries = await readdir(join(house.folder, 'staging'), { recursive: true, withFileTypes: true })
  return entries.filter((one) => one.isFile()).length
}

it.each(PROVIDERS)('FILE-01 FILE-30 SHAPE-23 %s keeps a file, and removes its bytes where it can', async (provider) => {
  const isSlow = SLOW.includes(provider)
  const locker = await house.locker(ed25519Identity(), { provider })
  const refOf = async () => (await manifestOf(locker)).files[0]!.provider_ref
  const expectReadable = async () => expect(`${await publicBytes(house, locker, 'a.txt')}`).toBe(`kept at ${provider}`)
  await locker.put('a.txt', `kept at ${provider}`)
  await expectReadable()
  expect([await refOf(), await staged()]).toEqual([null, isSlow ? 1 : 0])
  for (let runs = 0; isSlow && runs < 5 && (await refOf()) === null; runs++) {
    await house.gateway.context.queue.drain()
    house.clock.advance(3600)
  }
  if (isSlow) expect(await refOf()).toMatch(/^[\w?=-]{43,}$/)
  expect(await staged()).toBe(0)
  await expectReadable()
  const { body } = await locker.call<object>(['locker:write'], 'DELETE', '/files/a.txt')
  expect(body).toMatchObject({ deleted: true, bytes_removed: !isSlow })
})
