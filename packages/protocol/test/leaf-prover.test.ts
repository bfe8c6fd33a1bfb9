import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#crypto'
import { createLeafProver } from '../src/leaf-prover.ts'
import { merkleLevels, merkleProof, merkleRoot } from '../src/merkle.ts'

describe('proofs of leaves that arrive one after the other', () => {
  it('MERK-19 MERK-20 equal those of the whole tree, for any number and choice of leaves', {
    tags: ['nightly'],
  }, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 130 }), fc.nat(), (count, chosen) => {
        const leaves = Array.from({ length: count }, (_, i) => sha256Hex(String(i)))
        const levels = merkleLevels(leaves)
        const prover = createLeafProver()
        const isChosen = (i: number) => (chosen >>> (i % 31)) % 2 === 1
        const proven = leaves.flatMap((leaf, i) => {
          if (isChosen(i)) return [prover.prove(leaf)]
          prover.add(leaf)
          return []
        })
        expect(prover.end()).toBe(merkleRoot(leaves))
        const wanted = leaves.flatMap((_, index) =>
          isChosen(index) ? [{ index, proof: merkleProof(levels, index) }] : [],
        )
        expect(proven).toEqual(wanted)
      }),
      { numRuns: 100 },
    )
  })

  it('MERK-08 fail without a leaf', () => {
    expect(() => createLeafProver().end()).toThrow(RangeError)
  })
})
