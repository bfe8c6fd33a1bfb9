import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#crypto'
import {
  BLOCK_LEAVES,
  blockLevels,
  blockNode,
  blockNodes,
  createBlockTree,
  foldProof,
  GROUP_LEAVES,
  leafHash,
  merkleLevels,
  merkleProof,
  merkleRoot,
  proofInBlocks,
  treeDepth,
} from '../src/merkle.ts'
import { compareCodePoints, sortedByFilename } from '../src/order.ts'

const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })
const anyFile = fc.record({
  filename: anyText,
  size_bytes: fc.maxSafeNat(),
  content_hash: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
})
const anyFiles = fc.uniqueArray(anyFile, { minLength: 1, maxLength: 100, selector: (file) => file.filename })

describe('Merkle properties', () => {
  it('MERK-19 MERK-20 every proof of a tree leads to its root', () => {
    fc.assert(
      fc.property(anyFiles, (files) => {
        const leaves = sortedByFilename(files).map(leafHash)
        const levels = merkleLevels(leaves)
        const root = merkleRoot(leaves)
        leaves.forEach((leaf, index) => {
          const proof = merkleProof(levels, index)
          expect(foldProof(leaf, proof)).toBe(root)
          expect(proof).toHaveLength(treeDepth(leaves.length))
        })
      }),
      { numRuns: 25 },
    )
  })

  it('MERK-03 a changed field of any file changes the root', () => {
    fc.assert(
      fc.property(anyFiles, fc.nat(), (files, pick) => {
        const sorted = sortedByFilename(files)
        const { filename, size_bytes, content_hash } = sorted[pick % sorted.length]!
        const changes = [
          { filename: `${filename}x` },
          { size_bytes: size_bytes + 1 },
          { content_hash: sha256Hex(content_hash) },
        ]
        for (const change of changes) {
          const other = sorted.map((file) => (file.filename === filename ? { ...file, ...change } : file))
          expect(merkleRoot(other.map(leafHash))).not.toBe(merkleRoot(sorted.map(leafHash)))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('MERK-19 a proof with a changed character does not lead to the root', () => {
    fc.assert(
      fc.property(anyFiles, fc.nat(), fc.nat(), fc.nat(63), (files, pick, step, char) => {
        fc.pre(files.length > 1)
        const leaves = sortedByFilename(files).map(leafHash)
        const index = pick % leaves.length
        const proof = merkleProof(merkleLevels(leaves), index)
        const target = proof[step % proof.length]!
        const old = target.hash[char]!
        target.hash = target.hash.slice(0, char) + (old === '0' ? '1' : '0') + target.hash.slice(char + 1)
        expect(foldProof(leaves[index]!, proof)).not.toBe(merkleRoot(leaves))
      }),
      { numRuns: 60 },
    )
  })

  it('MERK-04 names are ordered as lists of code points', () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        const left = Array.from(a, (char) => char.codePointAt(0)!)
        const right = Array.from(b, (char) => char.codePointAt(0)!)
        const at = left.findIndex((point, i) => point !== right[i])
        const expected = at === -1 ? left.length - right.length : right[at] === undefined ? 1 : left[at]! - right[at]!
        expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(expected))
      }),
    )
  })

  it('MERK-20 a missing leaf has no proof', () => {
    const levels = merkleLevels(['a', 'b'])
    for (const index of [-1, 2, 0.5, Number.NaN]) expect(() => merkleProof(levels, index)).toThrow(RangeError)
  })
})

/** The aligned slice that contains this index. */
function slice(leaves: readonly string[], index: number, size: number): string[] {
  const start = index - (index % size)
  return leaves.slice(start, start + size)
}

describe('Merkle in blocks', () => {
  const leaves = Array.from({ length: 4097 }, (_, i) => sha256Hex(`leaf ${i}`))
  const aroundOneBlock = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 513, 1023, 1024, 1025]
  const aroundSeveral = [1535, 2047, 2048, 2049, 2560, 3071, 3073, 4095, 4097]

  it.each([...aroundOneBlock, ...aroundSeveral])(
    'MERK-06 %i leaves have the root and proofs of the plain tree',
    { tags: ['nightly'] },
    (size) => {
      const some = leaves.slice(0, size)
      const nodes = blockNodes(some)
      const levels = merkleLevels(some)
      expect(merkleRoot(nodes)).toBe(levels.at(-1)![0])
      expect(merkleRoot(some)).toBe(levels.at(-1)![0])
      const top = merkleLevels(nodes)
      const levelsOfBlock = nodes.map((_, block) =>
        blockLevels(slice(some, block * BLOCK_LEAVES, BLOCK_LEAVES), nodes.length),
      )
      const picks = [0, 1, 15, 16, size >> 1, BLOCK_LEAVES - 1, BLOCK_LEAVES, size - 2, size - 1]
      for (const index of new Set(picks.filter((i) => i >= 0 && i < size))) {
        const inBlock = levelsOfBlock[Math.floor(index / BLOCK_LEAVES)]!
        const proof = proofInBlocks(index, slice(some, index, GROUP_LEAVES), inBlock, top)
        expect(proof).toEqual(merkleProof(levels, index))
      }
    },
  )
})

describe('a tree whose leaves arrive in chunks', () => {
  const leaves = Array.from({ length: 3 * BLOCK_LEAVES }, (_, i) => sha256Hex(`leaf ${i}`))

  it('MERK-06 has the same root for chunks of any size', { tags: ['nightly'] }, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: leaves.length }), fc.integer({ min: 1, max: 2000 }), (count, chunk) => {
        const tree = createBlockTree()
        for (let start = 0; start < count; start += chunk) {
          tree.add(leaves.slice(start, Math.min(start + chunk, count)).join(''))
        }
        expect(tree.end().root).toBe(merkleRoot(leaves.slice(0, count)))
      }),
      { numRuns: 15 },
    )
  })

  it('MERK-08 has no root without leaves', () => {
    expect(() => createBlockTree().end()).toThrow('empty file list')
  })

  it.each([1, 1023, 1024, 1025, 3000])('MERK-05 MERK-06 accepts full blocks of %d leaves by their nodes', (count) => {
    const some = leaves.slice(0, count)
    const [whole, mixed] = [createBlockTree(), createBlockTree()]
    for (let at = 0; at < count; at += BLOCK_LEAVES) {
      const block = some.slice(at, Math.min(at + BLOCK_LEAVES, count))
      whole.add(block.join(''))
      if (block.length === BLOCK_LEAVES) mixed.addBlock(blockNode(block))
      else mixed.add(block.join(''))
    }
    const built = whole.end()
    expect(mixed.end()).toEqual(built)
    expect(built).toEqual({ nodes: blockNodes(some), root: merkleRoot(some) })
    const within = createBlockTree()
    within.add(leaves[0] as string)
    expect(() => within.addBlock(built.root)).toThrow('the current block')
  })
})
