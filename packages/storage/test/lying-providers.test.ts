// Each HTTP driver with a real store whose answers are distorted in transit.

import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { DISTORTIONS } from '@svc/devnet/distortions'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { expect, it, onTestFinished } from 'vitest'
import type { StorageProvider } from '../src/provider.ts'
import type { SlowStore } from '../src/slow-store.ts'
import { expectStored, newObject } from './arweave/new-object.ts'
import { stagedObject, startTestArweave } from './arweave/start-arweave.ts'
import { SHORT_TIMEOUTS } from './failures.ts'
import { openTestFilecoin } from './filecoin/start-filecoin.ts'
import { startTestGcs } from './gcs/start-gcs.ts'
import { fetchBytes, keep, newId } from './objects.ts'
import { openTestBucket } from './s3-bucket/start-bucket.ts'

const BYTES = randomBytes(10_000)

type Timeouts = typeof SHORT_TIMEOUTS

async function proxyOf(url: string): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy(url)
  onTestFinished(proxy.stop)
  return proxy
}

/** Every call ends, and a failed call reports that the provider failed. */
async function expectProviderErrors(name: string, asked: Record<string, Promise<unknown>>): Promise<void> {
  const outcomes = await Promise.allSettled(Object.values(asked))
  const errors = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : null))
  const others = errors.filter((error) => error !== null && !isOfProvider(error))
  expect(others, `${Object.keys(asked)} of a provider that ${name}`).toEqual([])
}

/** When a provider reports that a new id is taken, the driver must accept that: an existing object must not change. */
function isOfProvider(error: Error): boolean {
  return error.name === 'ProviderError' || error.message === 'an object with this id already exists'
}

interface TestStore {
  url: string
  direct: StorageProvider
  open(url: string, timeouts?: Timeouts): Promise<StorageProvider>
}

const stores: Record<string, () => Promise<TestStore>> = {
  async 'Google Cloud Storage'() {
    const { server, provider, open, close } = await startTestGcs()
    onTestFinished(close)
    return { url: server.url, direct: provider, open: (url, timeouts) => open({ endpoint: url }, timeouts) }
  },
  async Storj() {
    const { server, provider, open } = await openTestBucket()
    return { url: server.url, direct: provider, open: (url, timeouts) => open({ endpoint: url }, timeouts) }
  },
}

it.each(Object.keys(stores))(
  'T-139 the %s driver ends every wait, and stores what it acknowledges',
  { tags: ['nightly'] },
  async (store) => {
    const { url, direct, open } = await stores[store]!()
    const key = await keep(direct, BYTES)
    const proxy = await proxyOf(url)
    const [quick, normal] = [await open(proxy.url, SHORT_TIMEOUTS), await open(proxy.url)]
    for (const [name, distort] of Object.entries(DISTORTIONS)) {
      proxy.always(/./, { distort })
      const writing = keep(quick, BYTES)
      await expectProviderErrors(name, {
        read: fetchBytes(quick, key),
        stat: quick.stat(key),
        absent: quick.absent([key, { id: newId(), ref: null }]),
        write: writing,
      })
      expect([name, await quick.check()]).toEqual([name, expect.any(Boolean)])
      const written = await writing.catch(() => null)
      if (written) expect(await fetchBytes(direct, written), name).toEqual(BYTES)
      proxy.behave()
      expect(await fetchBytes(normal, key), `after ${name}`).toEqual(BYTES)
    }
  },
)

interface TestSlowStore {
  url: string
  /** Uses only this address for what it sends and reads before an object is delivered. */
  open(url: string, timeouts?: Timeouts): Promise<SlowStore>
  /** The refs of all paid objects. */
  paid(): string[]
}

const slowStores: Record<string, () => Promise<TestSlowStore>> = {
  async Arweave() {
    const { server, open } = await startTestArweave()
    onTestFinished(server.stop)
    return {
      url: server.uploadUrl,
      open: (url, timeouts) => open({ uploadUrl: url }, timeouts),
      paid: () => server.items().flatMap(({ id, paid }) => Array.from({ length: paid }, () => id)),
    }
  },
  async Filecoin() {
    const { server, open } = await openTestFilecoin({ isTrusting: true })
    const none = { lostMs: 0 }
    return {
      url: server.url,
      open: (url, timeouts) =>
        open({ pdpUrl: url, rpcUrl: `${url}/rpc/v1` }, timeouts ? { ...none, ...timeouts, progressMs: 300 } : none),
      paid: () => [...server.chain.dataSets.values()].flatMap(({ pieces }) => pieces),
    }
  },
}

/** One of each kind: a delivery takes a second of work. */
const SOME = ['sends a byte now and then', 'answers without end', 'sends half of its answer', 'answers null']

it.each(Object.keys(slowStores))(
  'T-139 the %s driver pays once, and continues with an honest provider',
  { tags: ['nightly'] },
  async (name) => {
    const { url, open, paid } = await slowStores[name]!()
    const proxy = await proxyOf(url)
    const [quick, normal] = [await open(proxy.url, SHORT_TIMEOUTS), await open(proxy.url)]
    const refs: string[] = []
    for (const distortion of SOME) {
      const bytes = randomBytes(200)
      const object = stagedObject(bytes)
      proxy.always(/./, { distort: DISTORTIONS[distortion]! })
      await expectProviderErrors(distortion, { deliver: quick.deliver(object) })
      expect([distortion, await quick.check()]).toEqual([distortion, expect.any(Boolean)])
      proxy.behave()
      const { ref } = await normal.deliver(object)
      expect(await buffer((await normal.read(ref))!), `after ${distortion}`).toEqual(bytes)
      refs.push(ref)
    }
    expect(paid().toSorted()).toEqual(refs.toSorted())
  },
)

it('T-139 the Arweave driver sends chunks again that the service lists in an unknown form', async () => {
  const { server, open } = await startTestArweave()
  onTestFinished(server.stop)
  const proxy = await proxyOf(server.uploadUrl)
  proxy.always(/\/-1$/, { lie: (answer) => ({ ...answer, chunks: [1, null, 'x', [0], { 0: 1 }] }) })
  const store = await open({ uploadUrl: proxy.url })
  const object = newObject('large')
  await expectStored(store, object, (await store.deliver(object)).ref)
})
