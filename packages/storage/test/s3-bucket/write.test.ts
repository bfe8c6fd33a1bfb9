import { Readable } from 'node:stream'
import { forEachTest } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'
import { openTestBucket, startTestBucket } from './start-bucket.ts'

const MIB = 1024 * 1024

/** This many equal bytes, in large chunks. */
function longStream(size: number): Readable {
  const chunk = Buffer.alloc(MIB, 7)
  let left = size
  return new Readable({
    read() {
      this.push(left > 0 ? chunk.subarray(0, Math.min(left, MIB)) : null)
      left -= MIB
    },
  })
}

describe('an object that the S3 bucket driver writes', () => {
  const storj = forEachTest(() => startTestBucket())

  /** The requests to the store: methods and names of query parameters. */
  async function stepsOf(size: number, declared: number | null): Promise<string[]> {
    const before = storj.server.requests.length
    await storj.provider.write(newId(), longStream(size), { contentType: 'text/plain', size: declared })
    return storj.server.requests.slice(before).map((line) => {
      const [method, address = ''] = line.split(' ')
      return [method, ...new URL(address, storj.server.url).searchParams.keys()].join(' ')
    })
  }

  it('has a key of prefix and id, and its content type', async () => {
    const id = newId()
    await storj.provider.write(id, streamOf(Buffer.from('abc')), { contentType: 'image/png', size: 3 })
    await storj.provider.write(newId(), longStream(9 * MIB), { contentType: 'a/b; c="d"', size: null })
    const [small, large] = storj.server.objects()
    expect(small).toMatchObject({
      key: `test/${id.slice(0, 2)}/${id}`,
      size: 3,
      headers: { 'content-type': 'image/png' },
    })
    expect(large).toMatchObject({ size: 9 * MIB, headers: { 'content-type': 'a/b; c="d"' } })
  })

  it('is sent in one request up to 64 MiB, and beyond that in parts of that size', { tags: ['nightly'] }, async () => {
    for (const size of [0, 1, MIB, MIB + 1, 64 * MIB]) expect(await stepsOf(size, size)).toEqual(['HEAD', 'PUT'])
    const part = 'PUT uploadId partNumber'
    expect(await stepsOf(64 * MIB + 1, 64 * MIB + 1)).toEqual(['HEAD', 'POST uploads', part, part, 'POST uploadId'])
    expect(
      storj.server
        .objects()
        .at(-1)
        ?.files.map(({ size }) => size),
    ).toEqual([64 * MIB, 1])
  })

  it('is sent in parts of 8 MiB when its size is not declared', { tags: ['nightly'] }, async () => {
    expect(await stepsOf(8 * MIB, null)).toHaveLength(2)
    expect(await stepsOf(16 * MIB, null)).toHaveLength(5)
    expect(storj.server.objects().map(({ files }) => files.map(({ size }) => size))).toEqual([
      [8 * MIB],
      [8 * MIB, 8 * MIB],
    ])
  })

  it('comes from one of several concurrent writers of the same id, in parts too', { tags: ['nightly'] }, async () => {
    const id = newId()
    const bytesOf = (i: number) => Buffer.alloc(9 * MIB, i)
    const write = (i: number) =>
      storj.provider.write(id, streamOf(bytesOf(i), MIB), { contentType: 'text/plain', size: null }).then(() => i)
    const outcomes = await Promise.allSettled([0, 1, 2, 3].map(write))
    const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
    expect(winners).toHaveLength(1)
    expect(bytesOf(winners[0]!).equals((await fetchBytes(storj.provider, { id, ref: null }))!)).toBe(true)
    expect(storj.server.uploads()).toEqual([])
  })

  it('is not replaced in a store that ignores preconditions', async () => {
    const older = await openTestBucket({ ignoresPreconditions: true })
    const key = await keep(older.provider, Buffer.from('first'))
    await expect(keep(older.provider, Buffer.from('other'), key.id)).rejects.toThrow(
      'an object with this id already exists',
    )
    expect(await fetchBytes(older.provider, key)).toEqual(Buffer.from('first'))
  })
})
