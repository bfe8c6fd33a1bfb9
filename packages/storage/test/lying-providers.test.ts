// Each driver that speaks HTTP, before a real store whose answers are distorted on their way.

import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { DISTORTIONS } from '@svc/devnet/distortions'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { expect, it, onTestFinished } from 'vitest'
import type { StorageProvider } from '../src/provider.ts'
import type { SlowStore } from '../src/slow-store.ts'
import { stagedObject, startTestArweave } from './arweave/start-arweave.ts'
import { SHORT_TIMEOUTS } from './bad-answers.ts'
import { openTestFilecoin } from './filecoin/start-filecoin.ts'
import { startTestGcs } from './gcs/start-gcs.ts'
import { fetchBytes, keep, newId } from './objects.ts'
import { openTestStorj } from './storj/start-storj.ts'

const BYTES = randomBytes(100_000)
const RANGE = { start: 10, end: 19 }

/** A proxy for each distortion, that distorts every answer. */
async function throughEach(url: string, attack: (proxy: FaultyProxy, name: string) => Promise<void>): Promise<void> {
  const attacks = Object.entries(DISTORTIONS).map(async ([name, distort]) => {
    const proxy = await startFaultyProxy(url)
    onTestFinished(proxy.stop)
    proxy.always(/./, { distort })
    await attack(proxy, name)
  })
  await Promise.all(attacks)
}

/** What was asked ends, and where it fails it says that the provider is at fault. */
async function expectProviderErrors(name: string, asked: Record<string, Promise<unknown>>): Promise<void> {
  const outcomes = await Promise.allSettled(Object.values(asked))
  for (const [i, outcome] of outcomes.entries())
    if (outcome.status === 'rejected')
      expect(outcome.reason, `${Object.keys(asked)[i]} of a provider that ${name}`).toMatchObject({
        name: 'ProviderError',
      })
}

interface TestStore {
  url: string
  direct: StorageProvider
  open(url: string, timeouts?: typeof SHORT_TIMEOUTS): Promise<StorageProvider>
}

const stores: Record<string, () => Promise<TestStore>> = {
  async 'Google Cloud Storage'() {
    const { server, provider, open, close } = await startTestGcs()
    onTestFinished(close)
    return { url: server.url, direct: provider, open: (url, timeouts) => open({ endpoint: url }, timeouts) }
  },
  async Storj() {
    const { server, provider, open } = await openTestStorj()
    return { url: server.url, direct: provider, open: (url, timeouts) => open({ endpoint: url }, timeouts) }
  },
}

it.each(Object.keys(stores))('T-135 the %s driver ends every wait, and has what it acknowledges', async (store) => {
  const { url, direct, open } = await stores[store]!()
  const key = await keep(direct, BYTES)
  await throughEach(url, async (proxy, name) => {
    const liar = await open(proxy.url, SHORT_TIMEOUTS)
    const id = newId()
    const writing = keep(liar, BYTES, id)
    await expectProviderErrors(name, {
      read: fetchBytes(liar, key),
      range: fetchBytes(liar, key, RANGE),
      stat: liar.stat(key),
      absent: liar.absent([key, ...Array.from({ length: 30 }, () => ({ id: newId(), ref: null }))]),
      write: writing,
      remove: liar.remove({ id: newId(), ref: null }),
    })
    expect([name, await liar.check()]).toEqual([name, expect.any(Boolean)])
    if ((await Promise.allSettled([writing]))[0]!.status === 'fulfilled')
      expect(await fetchBytes(direct, await writing), name).toEqual(BYTES)
    proxy.behave()
    expect(await fetchBytes(await open(proxy.url), key), `after ${name}`).toEqual(BYTES)
  })
})

interface TestSlowStore {
  url: string
  /** Uses nothing but this address for what it sends and asks before an object is delivered. */
  open(url: string, timeouts?: typeof SHORT_TIMEOUTS): Promise<SlowStore>
  /** The refs of all that was paid for. */
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
    const { server, open } = await openTestFilecoin()
    return {
      url: server.url,
      open: (url, timeouts) => {
        const progress = timeouts && { progressMs: 300 }
        return open({ pdpUrl: url, rpcUrl: `${url}/rpc/v1` }, { lostMs: 0, ...timeouts, ...progress })
      },
      paid: () => [...server.chain.dataSets.values()].flatMap(({ pieces }) => pieces),
    }
  },
}

const MAX_RUNS = 8

it.each(Object.keys(slowStores))('T-135 the %s driver pays once, and goes on with an honest provider', async (name) => {
  const { url, open, paid } = await slowStores[name]!()
  const refs: string[] = []
  await throughEach(url, async (proxy, distortion) => {
    const liar = await open(proxy.url, SHORT_TIMEOUTS)
    const bytes = randomBytes(10_000)
    const object = stagedObject(bytes)
    await expectProviderErrors(distortion, { deliver: liar.deliver(object) })
    expect([distortion, await liar.check()]).toEqual([distortion, expect.any(Boolean)])
    proxy.behave()
    const store = await open(proxy.url)
    refs.push(await eventually(() => store.deliver(object)))
    expect(await buffer((await store.read(refs.at(-1)!))!), `after ${distortion}`).toEqual(bytes)
  })
  expect(paid().toSorted()).toEqual(refs.toSorted())
})

/** As a job does: each run goes on from the notes of the last. */
async function eventually(run: () => Promise<{ ref: string }>, runs = MAX_RUNS): Promise<string> {
  try {
    return (await run()).ref
  } catch (error) {
    if (runs === 1) throw error
    return eventually(run, runs - 1)
  }
}
