import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { MAX_BYTES } from '../../src/filecoin/piece.ts'
import { streamOf } from '../objects.ts'
import { openTestFilecoin, stage, startTestFilecoin, type TestFilecoin } from './start-filecoin.ts'

const CLOSED = { name: 'ProviderError', reason: 'closed' }
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

describe('a delivery to Filecoin', () => {
  let filecoin: TestFilecoin
  beforeAll(async () => {
    filecoin = await startTestFilecoin()
  })
  afterAll(() => filecoin.close())
  beforeEach(() => filecoin.server.recover())

  const committed = () => [...filecoin.server.chain.dataSets.values()].flatMap(({ pieces }) => pieces)
  const count = (at: RegExp) => filecoin.server.requests.filter((line) => at.test(line)).length

  it('becomes a piece of a data set on the chain, with the content id that other software computes', async () => {
    const bytes = randomBytes(3000)
    const object = stage(bytes)
    const ref = await object.deliver(filecoin.store)
    expect(filecoin.server.pieces.received).toContain(ref)
    expect(committed()).toContain(ref)
    expect(await filecoin.store.stat(ref)).toEqual({ size: 3000 })
    expect(await buffer((await filecoin.store.read(ref))!)).toEqual(bytes)
    expect(object.progress).toMatchObject({ piece: ref, upload: { isWhole: true }, commit: { dataSet: '1000' } })
  })

  it.each([0, 1, 126])('pads %i bytes with zeros, which readers do not receive', async (size) => {
    const bytes = randomBytes(size)
    const ref = await stage(bytes).deliver(filecoin.store)
    const [cid] = ref.split('?') as [string]
    expect(filecoin.server.pieces.find(cid)?.size).toBe(127)
    expect(await filecoin.store.stat(ref)).toEqual({ size })
    expect(await buffer((await filecoin.store.read(ref))!)).toEqual(bytes)
    for (const range of [
      { start: size, end: size },
      { start: 0, end: 126 },
    ]) {
      await expect(filecoin.store.read(ref, range)).rejects.toMatchObject({ reason: 'unavailable' })
    }
  })

  it('is not sent when the provider has the same bytes, but is committed', async () => {
    const bytes = randomBytes(500)
    const ref = await stage(bytes).deliver(filecoin.store)
    const uploads = count(/^PUT/)
    expect(await stage(bytes).deliver(filecoin.store)).toBe(ref)
    expect(count(/^PUT/)).toBe(uploads)
    expect(committed().filter((piece) => piece === ref)).toHaveLength(2)
  })

  it('is not committed twice even when its progress was lost', async () => {
    const object = stage(randomBytes(500))
    const ref = await object.deliver(filecoin.store)
    const requests = [count(/^PUT/), count(/^POST \/pdp\/data-sets/)]
    object.progress = null
    expect(await object.deliver(filecoin.store)).toBe(ref)
    expect([count(/^PUT/), count(/^POST \/pdp\/data-sets/)]).toEqual(requests)
  })

  it('is rejected when it is one byte larger than the largest piece', async () => {
    expect(filecoin.store.maxBytes).toBe(1_065_353_216)
    const object = stage(randomBytes(500))
    await expect(object.deliver(filecoin.store, { size: MAX_BYTES + 1 })).rejects.toThrow(RangeError)
    expect(object.progress).toBeNull()
  })

  it('is rejected before anything is sent when its bytes are not the staged ones', async () => {
    const object = stage(randomBytes(500))
    const before = count(/pdp/)
    const open = async () => streamOf(randomBytes(500))
    await expect(object.deliver(filecoin.store, { open })).rejects.toThrow('not the staged ones')
    expect([object.progress, count(/pdp/)]).toEqual([null, before])
  })

  it('is not sent when recording its progress fails, because it is cancelled or another run has it', async () => {
    const object = stage(randomBytes(500))
    const before = count(/pdp/)
    const failure = new Error('cancelled')
    await expect(object.deliver(filecoin.store, { saveProgress: () => Promise.reject(failure) })).rejects.toBe(failure)
    expect(count(/pdp/)).toBe(before)
  })

  it('stops when the signal is aborted', async () => {
    const object = stage(randomBytes(500))
    const stopping = new AbortController()
    const { server, store, open } = await openTestFilecoin({ looks: 0 })
    await stage(randomBytes(200)).deliver(store) // creates the data set
    server.chain.isStopped = true
    const slowPolling = await open({}, { pollMs: 60_000, progressMs: 60_000 })
    const delivery = object.deliver(slowPolling, { signal: stopping.signal }).catch((error) => error)
    await expect.poll(() => server.requests.at(-1)).toMatch(/\/added\//)
    stopping.abort()
    expect(await delivery).toMatchObject({ name: 'AbortError' })
    server.chain.isStopped = false
    expect(await store.stat(await object.deliver(store))).toEqual({ size: 500 })
  })
})

describe('the Filecoin data set of a gateway', () => {
  let filecoin: TestFilecoin
  beforeEach(async () => {
    filecoin = await openTestFilecoin()
  })

  const creations = () => filecoin.server.requests.filter((line) => line === 'POST /pdp/data-sets').length

  it('is created once by concurrent runs, even of two gateways', async () => {
    await Promise.all(Array.from({ length: 5 }, () => stage(randomBytes(200)).deliver(filecoin.store)))
    expect(creations()).toBe(1)
    const stores = [await filecoin.open(), await filecoin.open()]
    await Promise.all(stores.map((store) => stage(randomBytes(200)).deliver(store)))
    expect([creations(), filecoin.server.chain.dataSets.size]).toEqual([1, 1])
    const others = await openTestFilecoin()
    const starting = [others.store, await others.open()]
    await Promise.all(starting.map((store) => stage(randomBytes(200)).deliver(store)))
    expect(others.server.chain.dataSets.size).toBe(1)
  })

  it('is not created again while its transaction is pending', async () => {
    const object = stage(randomBytes(200))
    filecoin.server.fail({ at: /^POST \/pdp\/data-sets$/, fault: 'lost answer', times: 1 })
    filecoin.server.chain.isStopped = true
    const quick = await filecoin.open({}, { progressMs: 0 })
    for (const _ of ['once', 'twice']) await expect(object.deliver(quick)).rejects.toMatchObject(UNAVAILABLE)
    filecoin.server.chain.isStopped = false
    const delivered = () =>
      object.deliver(quick).catch((error) => {
        expect(error).toMatchObject(UNAVAILABLE)
      })
    await vi.waitUntil(delivered, { timeout: 150_000 })
    expect(creations()).toBe(1)
  })

  it('is created again when the provider or the chain rejected it', async () => {
    const object = stage(randomBytes(200))
    filecoin.server.fail({ at: /^POST \/pdp\/data-sets$/, fault: { status: 503, code: 'later' }, times: 1 })
    await expect(object.deliver(filecoin.store)).rejects.toMatchObject(UNAVAILABLE)
    filecoin.server.chain.rejections = 1
    const quick = await filecoin.open({}, { progressMs: 10, lostMs: 0 })
    await expect(object.deliver(quick)).rejects.toMatchObject(UNAVAILABLE)
    await object.deliver(filecoin.store)
    expect(filecoin.server.chain.dataSets.size).toBe(1)
  })

  it('can be an existing one, and then no other is created', { tags: ['nightly'] }, async () => {
    await stage(randomBytes(200)).deliver(filecoin.store)
    const given = await filecoin.open({ dataSet: 1000n, payee: null })
    await stage(randomBytes(200)).deliver(given)
    expect(filecoin.server.chain.dataSets.get(1000n)?.pieces).toHaveLength(2)
  })

  it.each([
    ['does not exist', 7n, () => {}],
    ['has ended', 1000n, () => Object.assign(filecoin.server.chain.dataSets.get(1000n)!, { hasEnded: true })],
    [
      'is paid for by another account',
      1000n,
      () => Object.assign(filecoin.server.chain.dataSets.get(1000n)!, { payer: filecoin.server.payee }),
    ],
  ])('closes the provider when it %s', { tags: ['nightly'] }, async (_, dataSet, change) => {
    await stage(randomBytes(200)).deliver(filecoin.store)
    change()
    const given = await filecoin.open({ dataSet, payee: null })
    await expect(stage(randomBytes(200)).deliver(given)).rejects.toMatchObject(CLOSED)
    const commits = filecoin.server.requests.filter((line) => /^POST .*\/pieces$/.test(line))
    expect(commits).toHaveLength(1)
  })

  it('closes the provider when its payee is another account', async () => {
    const other = await filecoin.open({ payee: filecoin.server.recordKeeper })
    const failure = await stage(randomBytes(200))
      .deliver(other)
      .catch((error) => error)
    expect(failure).toMatchObject(CLOSED)
    expect(failure.cause.message).toMatch(/^the provider answered 500 to POST \/pdp\/data-sets: .*InvalidSignature/)
    expect(filecoin.server.chain.dataSets.size).toBe(0)
  })

  it('does not accept a piece that another key signed', async () => {
    const dataSet = { payer: filecoin.server.payee, clientDataSetId: 1n, pieces: [], hasEnded: false }
    filecoin.server.chain.dataSets.set(7n, dataSet)
    const given = await filecoin.open({ dataSet: 7n, payee: null, key: `0x${'77'.repeat(32)}` })
    await expect(stage(randomBytes(200)).deliver(given)).rejects.toMatchObject(CLOSED)
    expect(dataSet.pieces).toEqual([])
  })
})
