import { randomBytes } from 'node:crypto'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ALL_CHUNKS, expectStored, newObject, ONE_POST, watch } from './new-object.ts'
import { SEED, stagedObject, startTestArweave, type TestArweave } from './start-arweave.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const FULL = { name: 'ProviderError', reason: 'full' }

let arweave: TestArweave
beforeAll(async () => {
  arweave = await startTestArweave()
})
afterAll(() => arweave.server.stop())
afterEach(() => arweave.server.recover())

describe.each([
  ['small', ONE_POST],
  ['large', ALL_CHUNKS],
] as const)('a %s object on its way to Arweave', (size, once) => {
  it('T-19 is sent once, after its item id is recorded', async () => {
    const noted: unknown[] = []
    const sinceThen = watch(arweave.server)
    const object = newObject(size)
    const saveProgress = async (progress: unknown) => {
      noted.push([progress, sinceThen().sent])
      await object.saveProgress(progress)
    }
    const { ref } = await arweave.store.deliver({ ...object, saveProgress })
    expect(noted[0]).toEqual([{ id: ref, uploadId: null }, []])
    expect(sinceThen()).toEqual(once)
    expect(arweave.server.items().at(-1)).toMatchObject({
      owner: Buffer.from(ed25519Signer(SEED).publicKey),
      tags: [
        { name: 'Content-Type', value: 'image/png' },
        { name: 'App-Name', value: 'svc-storage-gateway' },
      ],
    })
    await expectStored(arweave.store, object, ref)
  })

  it('T-19 counts as delivered only when it is permanently on the chain', async () => {
    const sinceThen = watch(arweave.server)
    const object = newObject(size)
    arweave.server.isSealing = false
    for (const _ of ['once', 'twice']) await expect(arweave.store.deliver(object)).rejects.toMatchObject(UNAVAILABLE)
    const unread = { ...object, open: () => Promise.reject(new Error('there is nothing to read')) }
    await expect(arweave.store.deliver(unread)).rejects.toMatchObject(UNAVAILABLE)
    arweave.server.isSealing = true
    await expectStored(arweave.store, object, (await arweave.store.deliver(unread)).ref)
    expect(sinceThen()).toEqual(once)
  })

  it('is sent again when the service fails to put it on the chain', { tags: ['nightly'] }, async () => {
    const object = newObject(size)
    const { ref } = await arweave.store.deliver(object)
    arweave.server.failItem(ref)
    expect(await arweave.store.stat(ref)).toBeNull()
    expect(await arweave.store.deliver(object)).toEqual({ ref })
    expect(arweave.server.items().find(({ id }) => id === ref)?.paid).toBe(2)
    await expectStored(arweave.store, object, ref)
  })

  it('T-19 is not sent when a gateway has it, even if the service does not know it', async () => {
    const object = newObject(size)
    const { ref } = await arweave.store.deliver(object)
    const sinceThen = watch(arweave.server)
    arweave.server.fail({ at: /^upload GET .*\/status/, fault: { status: 404, code: 'unknown' } })
    expect(await arweave.store.deliver(object)).toEqual({ ref })
    arweave.server.behaviors.first = { lags: 'unknown', ignoresRange: false }
    expect(await arweave.store.deliver(object)).toEqual({ ref })
    expect(sinceThen().sent).toEqual([])
  })

  it('T-19 counts as sent when the service reports that it has it', async () => {
    const object = newObject(size)
    const { ref } = await arweave.store.deliver(object)
    const { paid } = arweave.server.items().at(-1)!
    const again = stagedObject(Buffer.alloc(0), { ...object, progress: null })
    expect(await arweave.store.deliver({ ...again, saveProgress: object.saveProgress })).toEqual({ ref })
    expect(arweave.server.items().find(({ id }) => id === ref)?.paid).toBe(paid)
  })

  it('becomes another item with another key, and the progress under the old key is ignored', async () => {
    const object = newObject(size)
    const last = size === 'small' ? /^upload POST/ : /^upload POST .*\/finalize/
    arweave.server.fail({ at: last, fault: { status: 403, code: 'Forbidden' }, times: 1 })
    await expect(arweave.store.deliver(object)).rejects.toMatchObject({ reason: 'closed' })
    const before = object.progress?.id
    const other = await arweave.open({ seed: randomBytes(32) })
    const sinceThen = watch(arweave.server)
    const { ref } = await other.deliver(object)
    expect(ref).not.toBe(before)
    expect(sinceThen()).toEqual(once)
  })

  it('T-139 stays staged when the credit is used up, and is sent when there is more', {
    tags: ['nightly'],
  }, async () => {
    const [before, object] = [newObject(size), newObject(size)]
    arweave.server.credit = before.size
    await arweave.store.deliver(before)
    const failure = await arweave.store.deliver(object).catch((error) => error)
    expect(failure).toMatchObject({ ...FULL, message: 'the storage provider is full', cause: expect.any(Error) })
    expect(arweave.server.items().some(({ id }) => id === object.progress?.id)).toBe(false)
    await expect.poll(object.openStreams).toBe(0)
    arweave.server.credit = object.size
    await expectStored(arweave.store, object, (await arweave.store.deliver(object)).ref)
  })

  it.each([
    [402, 'Payment Required', 'full'],
    [401, 'Insufficient balance', 'full'],
    [403, 'Forbidden', 'closed'],
    [400, 'Invalid Data Item!', 'unavailable'],
    [500, 'oops', 'unavailable'],
    [429, 'slow down', 'unavailable'],
  ] as const)(
    'T-139 stays staged when the service answers %i %s, and the provider is %s',
    async (status, code, reason) => {
      const object = newObject(size)
      arweave.server.fail({ at: /^upload POST/, fault: { status, code } })
      const failure = await arweave.store.deliver(object).catch((error) => error)
      expect(failure).toMatchObject({ name: 'ProviderError', reason })
      expect(failure.cause.message).toContain(`${status}: ${code}`)
      await expect.poll(object.openStreams).toBe(0)
    },
  )

  it('stops when the signal is aborted', async () => {
    const stop = new AbortController()
    const object = newObject(size, { signal: stop.signal })
    arweave.server.fail({ at: /^upload POST/, fault: 'silence' })
    const delivery = arweave.store.deliver(object).catch((error) => error)
    const asked = arweave.server.requests.length
    await expect.poll(() => arweave.server.requests.slice(asked).some((line) => line.includes('POST'))).toBe(true)
    stop.abort()
    expect(await delivery).toBe(stop.signal.reason)
    await expect.poll(object.openStreams).toBe(0)
    await expect(arweave.store.deliver(object)).rejects.toBe(stop.signal.reason)
  })

  it('is not sent when recording its progress fails', async () => {
    const sinceThen = watch(arweave.server)
    const failure = new Error('cancelled')
    const saveProgress = () => Promise.reject(failure)
    await expect(arweave.store.deliver({ ...newObject(size), saveProgress })).rejects.toBe(failure)
    expect(sinceThen()).toEqual({ sent: [], paid: [], begun: 0 })
  })
})

describe('the delivery of a large object to Arweave', () => {
  it('continues after temporary errors with the chunks that the service does not have', async () => {
    const sinceThen = watch(arweave.server)
    arweave.server.fail({ at: /POST .*\/0$/, fault: { status: 503, code: 'busy' }, times: 1 })
    arweave.server.fail({ at: /POST .*\/0$/, fault: 'lost answer', times: 1 })
    arweave.server.fail({ at: /POST .*\/8388608$/, fault: { cutBodyAt: 1000 }, times: 1 })
    await arweave.store.deliver(newObject('large'))
    expect(sinceThen()).toEqual(ALL_CHUNKS)
  })

  it('starts again from the beginning when the service discards the upload', { tags: ['nightly'] }, async () => {
    const object = newObject('large')
    arweave.server.fail({ at: /POST .*finalize/, fault: { status: 400, code: 'no' }, times: 1 })
    await expect(arweave.store.deliver(object)).rejects.toMatchObject(UNAVAILABLE)
    arweave.server.discardUploads()
    await expectStored(arweave.store, object, (await arweave.store.deliver(object)).ref)
  })

  it('fails when its bytes change meanwhile, and succeeds the next time', { tags: ['nightly'] }, async () => {
    const object = newObject('large')
    const [right, wrong] = [object.open, stagedObject(Buffer.alloc(object.size)).open]
    await expect(
      arweave.store.deliver({ ...object, open: (range) => (range ? wrong(range) : right()) }),
    ).rejects.toMatchObject(UNAVAILABLE)
    expect(arweave.server.items().some(({ id }) => id === object.progress?.id)).toBe(false)
    const shorter = stagedObject(Buffer.alloc(1000)).open
    await expect(
      arweave.store.deliver({ ...object, open: (range) => (range ? shorter() : right()) }),
    ).rejects.toMatchObject(UNAVAILABLE)
    await expectStored(arweave.store, object, (await arweave.store.deliver(object)).ref)
  })

  it('creates one item when two gateways send it at once', async () => {
    const object = newObject('large')
    const [one, other] = await Promise.all([arweave.store.deliver({ ...object }), arweave.store.deliver({ ...object })])
    expect(one).toEqual(other)
    expect(arweave.server.items().find(({ id }) => id === one.ref)?.paid).toBe(1)
  })
})

it('the Arweave driver rejects objects that are too large for the service', async () => {
  const { store } = arweave
  expect(store.maxBytes).toBe(4 * 1024 * MIB - 2048)
  const sinceThen = watch(arweave.server)
  const object = { ...newObject('small'), size: store.maxBytes + 1 }
  await expect(store.deliver(object)).rejects.toThrow(RangeError)
  expect([object.progress, sinceThen().sent]).toEqual([null, []])
})
