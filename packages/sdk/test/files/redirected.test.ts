import { randomBytes } from 'node:crypto'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { type RedirectingStore, redirecting, startRedirectingStore } from '@svc/storage/test/redirecting-store'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Locker } from '../../src/lockers.ts'
import type { Signer } from '../../src/signers.ts'
import { newEd25519, openTestbed, type Testbed } from '../lockers.ts'

let disk: Testbed
let store: RedirectingStore
let testbed: Testbed
let signer: Signer
let locker: Locker
beforeAll(async () => {
  disk = await openTestbed()
  const local = disk.gateway.context.providers.named('gcs')
  store = await startRedirectingStore({ provider: local })
  const provider = redirecting(local, store)
  const providers = onlyProvider(provider)
  testbed = await openTestbed({}, { providers })
  signer = newEd25519()
  locker = await testbed.locker(signer)
})
afterAll(async () => {
  await testbed.close()
  await store.stop()
  await disk.close()
})

it('SHORT-09 clients upload to and download from a provider that the gateway redirects to', {
  tags: ['nightly'],
}, async () => {
  const client = testbed.client({ signer })
  const bytes = randomBytes(500_000)
  await client.put(locker, 'alone', bytes, { contentType: 'image/png' })
  const outcomes = await client.putMany(locker, [
    { filename: 'a', bytes },
    { filename: 'b', bytes },
  ])
  expect(outcomes.every((outcome) => 'stored' in outcome)).toBe(true)
  const download = await client.get(locker, 'alone')
  expect(download).toMatchObject({ contentType: 'image/png', size: bytes.length })
  expect(Buffer.from(await download.bytes()).equals(bytes)).toBe(true)
})
