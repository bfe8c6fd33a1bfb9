import { Readable } from 'node:stream'
import type { FaultPlan } from '@svc/devnet/providers/http/faults'
import { beforeEach, describe, expect, it } from 'vitest'
import { fetchBytes, newId, streamOf } from '../objects.ts'
import { openTestStorj, type TestStorj } from './start-storj.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

/** The outcome of a write when the store fails, for each way in which the driver writes. */
export function describeFaults(way: 'small' | 'streamed' | 'held' | 'parted', size: number, isDeclared: boolean): void {
  const tags = way === 'held' || way === 'parted' ? ['nightly'] : []
  describe(`a ${way} write to Storj`, { tags }, () => {
    let storj: TestStorj
    let id: string
    beforeEach(async () => {
      storj = await openTestStorj()
      id = newId()
    })

    const bytes = Buffer.alloc(size, 7)
    const source = () => streamOf(bytes, MIB)
    const write = (from = source(), provider = storj.provider) =>
      provider.write(id, from, { contentType: 'text/plain', size: isDeclared ? size : null })
    const puts = () => storj.server.requests.filter((line) => line.startsWith('PUT'))

    /** Checks objects, parts and incoming bytes. The store needs a moment to notice that no more bytes come. */
    async function expectNothingLeft(): Promise<void> {
      expect([storj.server.objects(), storj.server.uploads()]).toEqual([[], []])
      await expect.poll(storj.incoming).toEqual([])
    }

    async function expectFailure(plan: FaultPlan, error: object, provider = storj.provider): Promise<void> {
      storj.server.fail(plan)
      const from = source()
      await expect(write(from, provider)).rejects.toMatchObject(error)
      expect([from.isPaused(), from.destroyed]).toEqual([true, from.readableEnded])
      storj.server.recover()
      await expectNothingLeft()
    }

    it('succeeds after temporary errors', async () => {
      storj.server.fail({ at: /^HEAD/, fault: { status: 503, code: 'SlowDown' }, times: 3 })
      storj.server.fail({ at: /^POST/, fault: { status: 503, code: 'SlowDown' }, times: 3 })
      storj.server.fail({ at: /^PUT/, fault: { status: 500, code: 'InternalError' }, times: 3 })
      expect(await write()).toEqual({ size, ref: null })
      expect(bytes.equals((await fetchBytes(storj.provider, { id, ref: null }))!)).toBe(true)
      expect(storj.server.uploads()).toEqual([])
    })

    it('succeeds once when its answer is lost', async () => {
      // The request that creates the object.
      const last = way === 'held' || way === 'parted' ? /^POST .*uploadId/ : /^PUT/
      storj.server.fail({ at: last, fault: 'lost answer', times: 1 })
      expect(await write()).toEqual({ size, ref: null })
      expect(storj.server.objects()).toHaveLength(1)
      expect(bytes.equals((await fetchBytes(storj.provider, { id, ref: null }))!)).toBe(true)
      await expect(write()).rejects.toThrow('there is an object with this id')
      expect(storj.server.uploads()).toEqual([])
    })

    it('fails when the store keeps failing', async () => {
      await expectFailure({ at: /^PUT/, fault: { status: 500, code: 'InternalError' } }, UNAVAILABLE)
    })

    it('fails when the store fails after it received everything', async () => {
      const fault = { status: 500, code: 'InternalError', afterBody: true } as const
      await expectFailure({ at: /^PUT/, fault }, UNAVAILABLE)
      // A streamed body cannot be sent again.
      expect(puts()).toHaveLength(way === 'small' || way === 'held' ? 4 : 1)
    })

    it('fails when the connection breaks in the middle', async () => {
      await expectFailure({ at: /^PUT/, fault: { cutBodyAt: Math.min(size, 2 * MIB) / 2 } }, UNAVAILABLE)
    })

    it('T-31 fails when the store is full, or rejects our credentials', async () => {
      for (const code of ['QuotaExceeded', 'XMinioAdminBucketQuotaExceeded', 'StorageLimitExceeded']) {
        const full = { reason: 'full', message: 'the storage provider is full' }
        await expectFailure({ at: /^PUT/, fault: { status: 403, code } }, full)
      }
      await expectFailure({ at: /^PUT/, fault: { status: 403, code: 'AccessDenied' } }, { reason: 'closed' })
      expect(puts()).toHaveLength(4)
    })

    it('fails when the store does not answer', async () => {
      const timeouts = { connectMs: 5000, continueMs: 10, answerMs: 300, idleMs: 300 }
      await expectFailure({ at: /^PUT/, fault: 'silence' }, UNAVAILABLE, await storj.open({}, timeouts))
    })

    it('leaves nothing when its source fails at any point', async () => {
      const sourceError = new Error('no more')
      for (const part of [0, size / 2, size]) {
        async function* breaking() {
          for await (const piece of streamOf(bytes.subarray(0, part), MIB)) yield piece
          throw sourceError
        }
        await expect(write(Readable.from(breaking(), { objectMode: false }))).rejects.toBe(sourceError)
        await expectNothingLeft()
      }
    })
  })
}
