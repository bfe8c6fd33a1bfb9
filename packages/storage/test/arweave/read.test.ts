import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ByteRange } from '../../src/provider.ts'
import type { SlowStore } from '../../src/slow-store.ts'
import { stagedObject, startTestArweave, type TestArweave } from './start-arweave.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const NOWHERE = 'A'.repeat(43)
const LAGS = { lags: 'unknown', ignoresRange: false } as const
const ALL_AT_ONCE = { lags: 'no', ignoresRange: true } as const

const bytes = randomBytes(5 * MIB)
let arweave: TestArweave
let ref: string
beforeAll(async () => {
  arweave = await startTestArweave()
  ref = (await arweave.store.deliver(stagedObject(bytes))).ref
})
afterAll(() => arweave.server.stop())
afterEach(() => arweave.server.recover())

async function expectBytes(store: SlowStore, range?: ByteRange): Promise<void> {
  const expected = range ? bytes.subarray(range.start, range.end + 1) : bytes
  expect((await buffer((await store.read(ref, range))!)).equals(expected)).toBe(true)
}

/** Uses a new driver, for which no gateway has failed yet. */
async function watch() {
  const store = await arweave.open()
  const before = arweave.server.requests.length
  return { store, requested: () => arweave.server.requests.slice(before).map((line) => line.split(' ', 2).join(' ')) }
}

describe('reading with the Arweave driver', () => {
  it.each([
    ['is down', { status: 503, code: '' }],
    ['requires payment', { status: 402, code: '' }],
    ['redirects', { status: 302, code: '' }],
    ['breaks the connection', 'lost answer'],
    ['does not answer', 'silence'],
  ] as const)(
    'uses the second gateway when the first %s, and tries the first one last from then on',
    { tags: ['nightly'] },
    async (_, fault) => {
      arweave.server.fail({ at: /^first/, fault })
      const store = await arweave.open({}, fault === 'silence' ? { answerMs: 1500 } : {})
      if (fault !== 'lost answer') await expectBytes(store)
      expect(await store.stat(ref)).toEqual({ size: bytes.length })
      await expectBytes(store, { start: 10, end: 20 })
      const before = arweave.server.requests.length
      await expectBytes(store)
      expect(arweave.server.requests.slice(before).map((line) => line.slice(0, 10))).toEqual(['second GET'])
    },
  )

  it.each(['unknown', 'announced'] as const)(
    'uses the second gateway when the item is %s at the first',
    async (lags) => {
      arweave.server.behaviors.first = { lags, ignoresRange: false }
      const { store, requested } = await watch()
      await expectBytes(store)
      await expectBytes(store, { start: 7, end: 7 })
      expect(await store.stat(ref)).toEqual({ size: bytes.length })
      expect(requested()).toEqual(['first GET', 'second GET', 'first GET', 'second GET', 'first HEAD', 'second HEAD'])
    },
  )

  it('returns null when no gateway has the item, and fails when one cannot be reached', async () => {
    const { store } = await watch()
    expect([await store.read(NOWHERE), await store.stat(NOWHERE)]).toEqual([null, null])
    expect(await store.read(NOWHERE, { start: 0, end: 0 })).toBeNull()
    arweave.server.fail({ at: /^first/, fault: { status: 500, code: '' } })
    await expect(store.read(NOWHERE)).rejects.toMatchObject(UNAVAILABLE)
    await expect(store.stat(NOWHERE)).rejects.toMatchObject(UNAVAILABLE)
    arweave.server.recover()
    arweave.server.fail({ at: /^second/, fault: { status: 500, code: '' } })
    await expect(store.stat(NOWHERE)).rejects.toMatchObject(UNAVAILABLE)
    expect(await store.stat(ref)).toEqual({ size: bytes.length })
  })

  it('cuts the range out when a gateway sends the whole item', async () => {
    arweave.server.behaviors = { first: ALL_AT_ONCE, second: ALL_AT_ONCE }
    const { store, requested } = await watch()
    await expectBytes(store)
    for (const [start, end] of [
      [0, 0],
      [65_536, 65_536],
      [262_143, 3 * MIB],
      [0, bytes.length - 1],
      [bytes.length - 1, bytes.length - 1],
    ] as const) {
      await expectBytes(store, { start, end })
    }
    expect(new Set(requested())).toEqual(new Set(['first GET']))
    await expect(store.read(ref, { start: 0, end: bytes.length })).rejects.toMatchObject(UNAVAILABLE)
    const part = (await store.read(ref, { start: MIB, end: 2 * MIB }))!
    await once(part, 'readable')
    part.destroy()
    await once(part, 'close')
    expect(part.errored).toBeNull()
  })

  it.each([[undefined], [{ start: MIB, end: 4 * MIB }]])(
    'resumes at another gateway when a download broke (range: %o)',
    async (range) => {
      const { store, requested } = await watch()
      arweave.server.fail({ at: /^first GET/, fault: { cutAnswerAt: MIB }, times: 1 })
      arweave.server.fail({ at: /^first GET/, fault: { status: 500, code: '' }, times: 1 })
      arweave.server.fail({ at: /^second GET/, fault: { cutAnswerAt: MIB }, times: 1 })
      await expectBytes(store, range)
      expect(requested()).toEqual(['first GET', 'second GET', 'first GET', 'second GET'])
    },
  )

  it('uses the same gateway again when only a connection broke', async () => {
    const { store, requested } = await watch()
    arweave.server.fail({ at: /^first HEAD/, fault: 'lost answer', times: 1 })
    expect(await store.stat(ref)).toEqual({ size: bytes.length })
    expect(requested()).toEqual(['first HEAD', 'first HEAD'])
  })

  it('fails when no gateway sends the rest', async () => {
    arweave.server.fail({ at: /^first GET/, fault: { cutAnswerAt: MIB } })
    const reading = async () => buffer((await (await arweave.open()).read(ref))!)
    arweave.server.behaviors.second = LAGS
    await expect(reading()).rejects.toMatchObject(UNAVAILABLE)
    arweave.server.behaviors = { first: ALL_AT_ONCE, second: ALL_AT_ONCE }
    await expect(reading()).rejects.toMatchObject(UNAVAILABLE)
    arweave.server.recover()
    arweave.server.fail({ at: /^first GET/, fault: { stallAnswerAt: MIB } })
    const quick = await arweave.open({}, { idleMs: 100 })
    await expect(buffer((await quick.read(ref))!)).rejects.toMatchObject(UNAVAILABLE)
  })
})

describe('the health check of Arweave', () => {
  it('succeeds while the service and one gateway work', async () => {
    const { store } = arweave
    const quick = await arweave.open({}, { answerMs: 100 })
    expect(await store.check()).toBe(true)
    for (const fault of ['silence', 'lost answer', { status: 503, code: '' }] as const) {
      arweave.server.fail({ at: /^first/, fault })
      expect(await store.check()).toBe(true)
      arweave.server.fail({ at: /^second/, fault })
      expect(await quick.check()).toBe(false)
      arweave.server.recover()
      arweave.server.fail({ at: /^upload/, fault })
      expect(await quick.check()).toBe(false)
      arweave.server.recover()
    }
    expect(await store.check()).toBe(true)
  })
})
