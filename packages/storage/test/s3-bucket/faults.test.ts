import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Fault, FaultPlan } from '@svc/devnet/providers/http/faults'
import { beforeEach, describe, expect, it } from 'vitest'
import { fetchBytes, newId, streamOf } from '../objects.ts'
import { openTestBucket, type TestBucket } from './start-bucket.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

describe.each([
  { way: 'small', size: 1000, isDeclared: true, tags: [] },
  { way: 'streamed', size: 3 * MIB, isDeclared: true, tags: [] },
  { way: 'held', size: 9 * MIB, isDeclared: false, tags: ['nightly'] },
  { way: 'parted', size: 65 * MIB, isDeclared: true, tags: ['nightly'] },
])('a $way write to Storj', ({ way, size, isDeclared, tags }) => {
  const isInParts = way === 'held' || way === 'parted'
  const bytes = Buffer.alloc(size, 7)
  let storj: TestBucket
  let id: string
  beforeEach(async () => {
    storj = await openTestBucket()
    id = newId()
  })

  const write = (source = streamOf(bytes, MIB), provider = storj.provider) =>
    provider.write(id, source, { contentType: 'text/plain', size: isDeclared ? size : null })

  /** Checks objects, parts and incoming bytes. The store needs a moment to notice that no more bytes come. */
  async function expectNothingLeft(): Promise<void> {
    expect([storj.server.objects(), storj.server.uploads()]).toEqual([[], []])
    await expect.poll(storj.incoming).toEqual([])
  }

  it.each<[string, FaultPlan[]]>([
    [
      'temporary errors',
      [
        { at: /^(?:HEAD|POST)/, fault: { status: 503, code: 'SlowDown' }, times: 3 },
        { at: /^PUT/, fault: { status: 500, code: 'InternalError' }, times: 3 },
      ],
    ],
    ['a lost answer', [{ at: isInParts ? /^POST .*uploadId/ : /^PUT/, fault: 'lost answer', times: 1 }]],
  ])('succeeds once after %s', { tags }, async (_, plans) => {
    for (const plan of plans) storj.server.fail(plan)
    expect(await write()).toEqual({ size, ref: null })
    expect([storj.server.objects().length, storj.server.uploads()]).toEqual([1, []])
    expect(bytes.equals((await fetchBytes(storj.provider, { id, ref: null }))!)).toBe(true)
  })

  it.each<[string, Fault, object]>([
    ['fails after it received everything', { status: 500, code: 'InternalError', afterBody: true }, UNAVAILABLE],
    ['cuts the connection', { cutBodyAt: Math.min(size, 2 * MIB) / 2 }, UNAVAILABLE],
    ['has a full bucket', { status: 403, code: 'XMinioAdminBucketQuotaExceeded' }, { reason: 'full' }],
    ['rejects our credentials', { status: 403, code: 'AccessDenied' }, { reason: 'closed' }],
    ['does not answer', 'silence', UNAVAILABLE],
  ])('leaves nothing when the store %s', { tags }, async (_, fault, error) => {
    storj.server.fail({ at: /^PUT/, fault })
    const timeouts = { connectMs: 5000, continueMs: 10, answerMs: 300, idleMs: 300 }
    const provider = fault === 'silence' ? await storj.open({}, timeouts) : storj.provider
    const source = streamOf(bytes, MIB)
    await expect(write(source, provider)).rejects.toMatchObject(error)
    expect([source.isPaused(), source.destroyed]).toEqual([true, source.readableEnded])
    storj.server.recover()
    await expectNothingLeft()
  })

  it('leaves nothing when its source fails at any point', { tags }, async () => {
    const sourceError = new Error('no more')
    for (const part of [0, size / 2, size]) {
      async function* breaking() {
        yield* streamOf(bytes.subarray(0, part), MIB)
        throw sourceError
      }
      await expect(write(Readable.from(breaking(), { objectMode: false }))).rejects.toBe(sourceError)
      await expectNothingLeft()
    }
  })
})

describe('a Storj upload in parts', () => {
  const ABOUT = { contentType: 'a/b', partBytes: 5 * MIB }

  it('is aborted when its object is removed, and so are all others of that object only', async () => {
    const storj = await openTestBucket({ pageSize: 2 })
    const [id, other] = [newId(), newId()]
    for (const each of [id, other, id, id, id, id]) await storj.provider.parts.begin(each, ABOUT)
    storj.server.fail({ at: /^DELETE/, fault: { status: 500, code: 'InternalError' } })
    await expect(storj.provider.remove({ id, ref: null })).rejects.toMatchObject(UNAVAILABLE)
    storj.server.recover()
    expect(await storj.provider.remove({ id, ref: null })).toBe('removed')
    expect(storj.server.uploads().map(({ key }) => key.slice(-32))).toEqual([other])
  })

  it('SESS-05 is lost when the store fails and has no such upload any more, as Ceph does', async () => {
    const { server, provider } = await openTestBucket()
    const [id, part] = [newId(), { index: 0, size: 10, isLast: true, maxBytes: 10 }]
    const upload = { id, ref: await provider.parts.begin(id, ABOUT), contentType: 'a/b' }
    const ref = (await provider.parts.write(upload, part, streamOf(randomBytes(10))))!
    server.fail({ at: /^POST .*uploadId/, fault: { status: 500, code: 'InternalError' } })
    await expect(provider.parts.complete(upload, [{ ...part, ref }])).rejects.toMatchObject(UNAVAILABLE)
    await provider.remove({ id, ref: null })
    expect(await provider.parts.complete(upload, [{ ...part, ref }])).toBeNull()
  })

  it('T-139 is not complete when the answer begins as a success and contains an error', async () => {
    const { server, provider } = await openTestBucket()
    const [id, part] = [newId(), { index: 0, size: 10, isLast: true, maxBytes: 10 }]
    const upload = { id, ref: await provider.parts.begin(id, ABOUT), contentType: 'a/b' }
    const ref = (await provider.parts.write(upload, part, streamOf(randomBytes(10))))!
    const fault = { status: 200, code: 'InternalError' }
    server.fail({ at: /^POST .*uploadId/, fault })
    await expect(provider.parts.complete(upload, [{ ...part, ref }])).rejects.toMatchObject(UNAVAILABLE)
    expect(server.objects()).toEqual([])
    server.recover()
    server.fail({ at: /^POST .*uploadId/, fault, times: 3 })
    expect(await provider.parts.complete(upload, [{ ...part, ref }])).toMatchObject({ size: 10 })
  })
})
