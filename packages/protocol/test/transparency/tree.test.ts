import { describe, expect, it } from 'vitest'
import { concat, toHex } from '../../src/bytes.ts'
import { readFrontier, rootOf } from '../../src/transparency/frontier.ts'
import { hashPair } from '../../src/transparency/hash-pair.ts'
import {
  proveConsistency,
  proveInclusion,
  provePrefix,
  readPrefix,
  rootFromTiles,
} from '../../src/transparency/prove.ts'
import type { TilePosition } from '../../src/transparency/tiles.ts'
import {
  EMPTY_ROOT,
  floorLog2,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
  prefixRoots,
} from '../../src/transparency/tree.ts'
import { memoryLog, slowRoot } from './trees.ts'

describe('trees', () => {
  it('LOG-01 hash as specified in RFC 6962', () => {
    // From the examples of Certificate Transparency implementations.
    expect(toHex(EMPTY_ROOT)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(toHex(leafHash(new Uint8Array()))).toBe('6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d')
  })

  it('LOG-02 hash their nodes as a library does, for every last byte', () => {
    const prefix = Uint8Array.of(1)
    let pair = concat(leafHash(prefix), leafHash(new Uint8Array()))
    for (let lastByte = 0; lastByte < 256; lastByte++) {
      pair[63] = lastByte
      const expected = nodeHash(pair.subarray(0, 32), pair.subarray(32))
      const target = new Uint8Array(96)
      hashPair(concat(prefix, pair), 1, target, 32)
      expect(target).toEqual(concat(new Uint8Array(32), expected, new Uint8Array(32)))
      pair = concat(expected, pair.subarray(0, 32))
    }
    expect(() => hashPair(pair, 1, pair, 0)).toThrow(RangeError)
    expect(() => nodeHash(pair.subarray(0, 31), pair.subarray(31))).toThrow(RangeError)
  })

  it('LOG-02 refuse a tile that is too short for the requested hash', async () => {
    const { readTile } = memoryLog([300])
    const short = async (place: TilePosition) => (await readTile(place)).subarray(0, -1)
    await expect(proveInclusion(0, 300, short)).rejects.toThrow(RangeError)
  })

  it('LOG-01 have the root of the definition at every size, in whatever steps they grew', { tags: ['nightly'] }, () => {
    for (const size of [...Array(70).keys(), 127, 255, 256, 257, 511, 512, 513]) {
      const { frontier, leaves } = memoryLog([size])
      expect(rootOf(frontier)).toEqual(slowRoot(leaves))
    }
    const { frontier, leaves } = memoryLog([1, 254, 1, 1, 255, 300, 65_000, 0, 1000])
    expect(rootOf(frontier)).toEqual(slowRoot(leaves))
  })

  it('LOG-01 continue from their stored tiles', { tags: ['nightly'] }, async () => {
    for (const steps of [[7], [256], [300, 65_236], [65_537]]) {
      const { frontier, readTile } = memoryLog(steps)
      expect(rootOf(await readFrontier(frontier.size, readTile))).toEqual(rootOf(frontier))
      expect(await rootFromTiles(frontier.size, readTile)).toEqual(rootOf(frontier))
    }
  })

  it('LOG-02 prove each entry at each size, and nothing else', async () => {
    for (const size of [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 70]) {
      const { frontier, leaves, readTile } = memoryLog([size])
      const root = rootOf(frontier)
      for (let index = 0; index < size; index++) {
        const proof = await proveInclusion(index, size, readTile)
        const claim = { index, size, root, leaf: leaves[index]! }
        expect(isIncluded(claim, proof)).toBe(true)
        expect(isIncluded({ ...claim, leaf: leaves[(index + 1) % size]! }, proof)).toBe(size === 1)
        expect(isIncluded({ ...claim, index: index + 1 }, proof)).toBe(false)
        expect(isIncluded({ ...claim, size: size * 2 + 1 }, proof)).toBe(false)
        expect(isIncluded(claim, [...proof, root])).toBe(false)
        if (proof.length > 0) expect(isIncluded(claim, proof.slice(1))).toBe(false)
      }
    }
  })

  it('LOG-02 prove that each size extends each earlier one, and nothing else', async () => {
    const heads = Array.from({ length: 34 }, (_, size) => ({ size, root: rootOf(memoryLog([size]).frontier) }))
    const { readTile } = memoryLog(heads.slice(1).map(() => 1))
    for (const later of heads) {
      for (const earlier of heads.slice(0, later.size + 1)) {
        const proof = await proveConsistency(earlier.size, later.size, readTile)
        expect(isConsistent(earlier, later, proof)).toBe(true)
        expect(isConsistent(earlier, later, [...proof, later.root])).toBe(false)
        if (proof.length > 0) expect(isConsistent(earlier, later, proof.slice(0, -1))).toBe(false)
        const other = { ...earlier, root: leafHash(earlier.root) }
        expect(isConsistent(other, later, proof)).toBe(false)
        if (earlier.size > 0) expect(isConsistent(earlier, { ...later, root: other.root }, proof)).toBe(false)
        if (earlier.size < later.size) expect(isConsistent(later, earlier, proof)).toBe(false)
      }
    }
  })

  it('T-129 are not proven by hashes of another length or invalid sizes', async () => {
    const { frontier, leaves, readTile } = memoryLog([7])
    const root = rootOf(frontier)
    const garbage = [0, 1, 31, 33, 64].map((length) => new Uint8Array(length))
    for (let index = 0; index < 7; index++) {
      const proof = await proveInclusion(index, 7, readTile)
      const claim = { index, size: 7, root, leaf: leaves[index]! }
      for (const other of garbage) {
        const proofs = [...corrupted(proof, other), [other]]
        expect(proofs.filter((path) => isIncluded(claim, path))).toEqual([])
        const claims = [{ leaf: other }, { root: other }].map((change) => ({ ...claim, ...change }))
        expect(claims.filter((wrong) => isIncluded(wrong, proof))).toEqual([])
      }
      const none = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 64]
      const indexes = [...none, index + 7, index ^ 1, index ^ 4]
      expect(indexes.filter((number) => isIncluded({ ...claim, index: number }, proof))).toEqual([])
      expect([...none, 0, index].filter((number) => isIncluded({ ...claim, size: number }, proof))).toEqual([])
      const changed = [proof.slice(1), proof.slice(0, -1), proof.toReversed()]
      expect(changed.filter((path) => isIncluded(claim, path))).toEqual([])
    }
    for (const size of [1, 2, 3, 4, 5, 6]) {
      const earlier = { size, root: slowRoot(leaves.slice(0, size)) }
      const later = { size: 7, root }
      const proof = await proveConsistency(size, 7, readTile)
      const path = await provePrefix(size, 7, readTile)
      for (const other of garbage) {
        expect(corrupted(proof, other).filter((hashes) => isConsistent(earlier, later, hashes))).toEqual([])
        expect(corrupted(path, other).map((hashes) => prefixRoots(size, 7, hashes))).toEqual(
          corrupted(path, other).map(() => null),
        )
        expect(isConsistent({ ...earlier, root: other }, later, proof)).toBe(false)
        expect(isConsistent(earlier, { ...later, root: other }, proof)).toBe(false)
      }
    }
  })

  it('LOG-02 prove the root of their first entries', { tags: ['nightly'] }, async () => {
    const heads = Array.from({ length: 35 }, (_, size) => ({ size, root: rootOf(memoryLog([size]).frontier) }))
    const { readTile } = memoryLog(heads.slice(1).map(() => 1))
    for (const later of heads.slice(2)) {
      for (const earlier of heads.slice(1, later.size)) {
        const path = await provePrefix(earlier.size, later.size, readTile)
        expect(prefixRoots(earlier.size, later.size, path)).toEqual({ earlier: earlier.root, later: later.root })
        expect(prefixRoots(earlier.size, later.size, [...path, later.root])).toBeNull()
        expect(prefixRoots(earlier.size, later.size, path.slice(0, -1))).toBeNull()
        expect(await readPrefix(later, earlier.size, readTile)).toEqual({ root: earlier.root, path })
        expect(await readPrefix({ ...later, root: earlier.root }, earlier.size, readTile)).toBeNull()
      }
    }
    const head = heads[7]!
    expect(await readPrefix(head, 0, readTile)).toEqual({ root: heads[0]!.root, path: [] })
    expect(await readPrefix(head, head.size, readTile)).toEqual({ root: head.root, path: [] })
  })

  it('LOG-02 prove across tiles', { tags: ['nightly'] }, async () => {
    const steps = [1000, 64_000, 5000]
    const { frontier, leaves, readTile } = memoryLog(steps)
    const root = rootOf(frontier)
    for (const index of [0, 255, 256, 999, 65_535, 65_536, 69_999]) {
      const proof = await proveInclusion(index, 70_000, readTile)
      expect(isIncluded({ index, size: 70_000, root, leaf: leaves[index]! }, proof)).toBe(true)
    }
    for (const size of [1, 255, 256, 257, 1000, 65_000, 65_536]) {
      const earlier = { size, root: slowRoot(leaves.slice(0, size)) }
      expect(isConsistent(earlier, { size: 70_000, root }, await proveConsistency(size, 70_000, readTile))).toBe(true)
    }
  })

  it('LOG-02 compute exactly near the largest sizes', () => {
    expect(floorLog2(1)).toBe(0)
    for (let exponent = 1; exponent < 53; exponent++) {
      expect(floorLog2(2 ** exponent)).toBe(exponent)
      expect(floorLog2(2 ** exponent + 2 ** (exponent - 1))).toBe(exponent)
      expect(floorLog2(2 ** exponent - 1)).toBe(exponent - 1)
    }
  })
})

/** Variants with something before, after, and in place of each hash. */
function corrupted(proof: readonly Uint8Array[], other: Uint8Array): Uint8Array[][] {
  return [[other, ...proof], [...proof, other], ...proof.map((_, i) => proof.with(i, other))]
}
