import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BLOCK_LEAVES, createBlockTree, leafHash, merkleRoot } from '../src/merkle.ts'

const leaves = Array.from({ length: 3 * BLOCK_LEAVES }, (_, i) => {
  return leafHash({ filename: `f${i}`, size_bytes: i, content_hash: 'ab'.repeat(32) })
})

describe('a tree whose leaves come stretch by stretch', () => {
  it('MERK-06 has the root of the whole, whatever the stretches', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: leaves.length }), fc.integer({ min: 1, max: 2000 }), (count, stretch) => {
        const tree = createBlockTree()
        for (let start = 0; start < count; start += stretch) {
          tree.add(leaves.slice(start, Math.min(start + stretch, count)).join(''))
        }
        expect(tree.end().root).toBe(merkleRoot(leaves.slice(0, count)))
      }),
      { numRuns: 30 },
    )
  })

  it('MERK-08 has no root without leaves', () => {
    expect(() => createBlockTree().end()).toThrow('empty file list')
  })
})
