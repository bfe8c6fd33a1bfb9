import { randomBytes } from 'node:crypto'
import { calculate } from '@filoz/synapse-core/piece'
import { commitmentOf as commitmentByTheBook } from '@svc/devnet/providers/filecoin/commitment'
import { describe, expect, it } from 'vitest'
import { commitmentThread } from '../../src/filecoin/commitment-thread.ts'
import { cidOf, lengthOf, pieceOf, refOf, withZeros } from '../../src/filecoin/piece.ts'
import { streamOf } from '../objects.ts'

const MIB = 1024 * 1024

describe('a piece commitment', () => {
  const commitmentOf = commitmentThread()

  it.each([1, 126, 127, 128, 253, 254, 255, 1016, 1017, 65_536, MIB - 1, MIB, MIB + 1, 2 * MIB])(
    'equals that of another implementation for %i bytes, and contains the size',
    { tags: ['nightly'] },
    async (size) => {
      const bytes = randomBytes(size)
      const cid = cidOf(await commitmentOf(streamOf(bytes)))
      expect(cid).toMatch(/^bafkzci/)
      expect(cid).toBe(commitmentByTheBook(bytes))
      expect(pieceOf(cid)).toEqual({ cid, size })
      expect(cid).toBe(calculate(bytes).toString())
    },
  )

  it('does not depend on how the bytes are chunked', async () => {
    const bytes = randomBytes(10_000)
    const expected = commitmentByTheBook(bytes)
    for (const length of [1, 31, 127, 4096, 10_000]) {
      expect(cidOf(await commitmentOf(streamOf(bytes, length)))).toBe(expected)
    }
  })

  it('can be computed for several objects at once', async () => {
    const objects = Array.from({ length: 8 }, (_, i) => randomBytes(20_000 * (i + 1)))
    const cids = await Promise.all(objects.map(async (bytes) => cidOf(await commitmentOf(streamOf(bytes, 1000)))))
    expect(cids).toEqual(objects.map(commitmentByTheBook))
  })

  it('fails when the bytes end early, and the next one is correct', async () => {
    const sourceError = new Error('no more')
    async function* broken() {
      yield randomBytes(1000)
      throw sourceError
    }
    for (const _ of ['once', 'twice']) await expect(commitmentOf(broken())).rejects.toBe(sourceError)
    const bytes = randomBytes(1000)
    expect(cidOf(await commitmentOf(streamOf(bytes)))).toBe(commitmentByTheBook(bytes))
  })
})

describe('the ref of a Filecoin object', () => {
  const commitmentOf = commitmentThread()

  it.each([0, 1, 126, 127, 128])('contains the piece and the size for %i bytes', async (size) => {
    const bytes = randomBytes(size)
    const cid = cidOf(await commitmentOf(withZeros(streamOf(bytes), { size })))
    expect(cid).toBe(commitmentByTheBook(Buffer.concat([bytes, Buffer.alloc(Math.max(0, 127 - size))])))
    const ref = refOf({ cid, size })
    expect(ref).toBe(size < 127 ? `${cid}?size=${size}` : cid)
    expect(pieceOf(ref)).toEqual({ cid, size })
    expect(lengthOf({ size })).toBe(Math.max(size, 127))
  })

  it.each([
    '',
    'nowhere',
    'bafkzci',
    'bafkzcibcaebjsf7omg4a676gbacpzprz2kxovlr3nmb55s76fqehmtl2rk7lioy/../../pdp/ping',
    'bafkzcibcaebjsf7omg4a676gbacpzprz2kxovlr3nmb55s76fqehmtl2rk7lioy?size=-1',
    'bafkzcibcaebjsf7omg4a676gbacpzprz2kxovlr3nmb55s76fqehmtl2rk7lio',
    'bafkreibq4fevl27rgurgnxbp7adh42aqiyd6ouflxhj3gzmcxcxzbh6lla',
  ])('is never %s', (ref) => {
    expect(pieceOf(ref)).toBeNull()
  })
})
