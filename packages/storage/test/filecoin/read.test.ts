import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { contentIdOf } from '@svc/devnet/providers/filecoin/commitment'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { SlowStore } from '../../src/slow-store.ts'
import { openTestFilecoin, startTestFilecoin, type TestFilecoin } from './start-filecoin.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
const CLOSED = { name: 'ProviderError', reason: 'closed' }
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Stores a piece without computing its commitment, which no reader checks. */
async function place({ server }: TestFilecoin, bytes: Buffer): Promise<string> {
  const height = 2 + Math.ceil(Math.log2(Math.max(1, bytes.length / 127)))
  const cid = contentIdOf(bytes.length, height, randomBytes(32))
  await server.pieces.place(cid, bytes)
  return cid
}

describe('reading with the Filecoin driver', () => {
  let filecoin: TestFilecoin
  let store: SlowStore
  beforeAll(async () => {
    filecoin = await startTestFilecoin()
    store = filecoin.store
  })
  afterAll(() => filecoin.close())
  afterEach(() => filecoin.server.recover())

  const gets = (ref: string) => filecoin.server.requests.filter((line) => line === `GET /piece/${ref}`).length

  it('returns any range of a piece when the provider ignores ranges', { tags: ['nightly'] }, async () => {
    const at = await openTestFilecoin({ ignoresRanges: true })
    const bytes = randomBytes(3 * MIB + 7)
    const ref = await place(at, bytes)
    const borders = [0, 65_535, 65_536, MIB - 1, 2 * MIB + 1, bytes.length - 1]
    for (const start of borders) {
      for (const end of borders.filter((end) => end >= start)) {
        const part = await buffer((await at.store.read(ref, { start, end }))!)
        expect([start, end, sha256(part)]).toEqual([start, end, sha256(bytes.subarray(start, end + 1))])
      }
    }
    expect(sha256(await buffer((await at.store.read(ref))!))).toBe(sha256(bytes))
  })

  it('returns null when the provider has no such piece, or the ref is not one of Filecoin', async () => {
    const absent = contentIdOf(1000, 5, randomBytes(32))
    for (const ref of [absent, `${contentIdOf(127, 2, randomBytes(32))}?size=0`, 'nowhere', '../pdp/ping']) {
      expect(await store.read(ref)).toBeNull()
      expect(await store.stat(ref)).toBeNull()
    }
    expect(await store.read(absent, { start: 0, end: 0 })).toBeNull()
  })

  it('fails when a download cannot be resumed', async () => {
    const ref = await place(filecoin, randomBytes(3 * MIB))
    filecoin.server.fail({ at: /^GET/, fault: { cutAnswerAt: MIB / 2 } })
    await expect(buffer((await store.read(ref))!)).rejects.toMatchObject(UNAVAILABLE)
    const at = await openTestFilecoin({ ignoresRanges: true })
    const other = await place(at, randomBytes(3 * MIB))
    at.server.fail({ at: /^GET/, fault: { cutAnswerAt: MIB }, times: 1 })
    await expect(buffer((await at.store.read(other, { start: 1, end: 2 * MIB }))!)).rejects.toMatchObject(UNAVAILABLE)
  })

  it('fails when the provider does not answer, or answers unexpectedly', async () => {
    const ref = await place(filecoin, randomBytes(3 * MIB))
    const quick = await filecoin.open({}, { answerMs: 200, idleMs: 200 })
    filecoin.server.fail({ at: /^GET/, fault: { stallAnswerAt: MIB }, times: 1 })
    await expect(buffer((await quick.read(ref))!)).rejects.toMatchObject(UNAVAILABLE)
    filecoin.server.fail({ at: /./, fault: 'silence', times: 2 })
    await expect(quick.read(ref)).rejects.toMatchObject(UNAVAILABLE)
    await expect(quick.stat(ref)).rejects.toMatchObject(UNAVAILABLE)
    filecoin.server.recover()
    for (const [status, error] of [
      [403, CLOSED],
      [402, CLOSED],
      [416, UNAVAILABLE],
      [500, UNAVAILABLE],
    ] as const) {
      filecoin.server.fail({ at: /piece/, fault: { status, code: '' } })
      await expect(store.read(ref)).rejects.toMatchObject(error)
      await expect(store.stat(ref)).rejects.toMatchObject(error)
      filecoin.server.recover()
    }
    // A piece with another length than in its content id.
    await filecoin.server.pieces.place(ref, randomBytes(MIB))
    await expect(store.stat(ref)).rejects.toMatchObject(UNAVAILABLE)
    await expect(store.read(ref, { start: 0, end: 9 })).rejects.toMatchObject(UNAVAILABLE)
    await expect(store.read(ref)).rejects.toMatchObject(UNAVAILABLE)
  })

  it('reads from the retrieval address first, and from the provider when that fails', async () => {
    const cache = await openTestFilecoin()
    const retrievalUrl = `${cache.server.url}/piece`
    const cached = await filecoin.open({ retrievalUrl })
    const bytes = randomBytes(1000)
    const ref = await place(filecoin, bytes)
    expect(await buffer((await cached.read(ref))!)).toEqual(bytes)
    expect([cache.server.requests.length, gets(ref)]).toEqual([1, 1])
    await cache.server.pieces.place(ref, bytes)
    expect(await buffer((await cached.read(ref, { start: 10, end: 19 }))!)).toEqual(bytes.subarray(10, 20))
    expect(await cached.stat(ref)).toEqual({ size: 1000 })
    expect([cache.server.requests.length, gets(ref)]).toEqual([3, 1])
    cache.server.fail({ at: /./, fault: { status: 402, code: 'no funds' } })
    expect(await buffer((await cached.read(ref))!)).toEqual(bytes)
    expect(await cached.stat(ref)).toEqual({ size: 1000 })
    expect(gets(ref)).toBe(2)
    expect(await cached.stat(contentIdOf(1000, 5, randomBytes(32)))).toBeNull()
  })
})
