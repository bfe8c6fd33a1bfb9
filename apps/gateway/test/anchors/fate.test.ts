import { describe, expect, it } from 'vitest'
import { fateOf } from '../../src/anchors/fate.ts'
import type { Sighting } from '../../src/anchors/publication-nodes.ts'

const LAST_VALID = 1000
const at = (finalizedHeight: number, status: Sighting['status'] = null): Sighting => ({ finalizedHeight, status })
const confirmed = { slot: 7, commitment: 'confirmed', error: null } as const
const finalized = { slot: 7, commitment: 'finalized', error: null } as const
const failed = { slot: 7, commitment: 'confirmed', error: '"AccountInUse"' } as const
const LANDED = { is: 'landed', slot: 7 }

describe('what became of a transaction', () => {
  it.each([
    ['nobody answers', [], { is: 'unknown' }],
    ['it is nowhere, and may still come', [at(0)], { is: 'unknown' }],
    ['it is nowhere, and the last block that could hold it is not final', [at(LAST_VALID)], { is: 'unknown' }],
    ['it is nowhere, and can no longer come', [at(LAST_VALID + 1)], { is: 'expired' }],
    ['both say that it cannot come', [at(LAST_VALID + 1), at(LAST_VALID + 500)], { is: 'expired' }],
    ['one of two is behind', [at(LAST_VALID + 1), at(LAST_VALID)], { is: 'unknown' }],
    ['a height makes no sense', [at(Number.NaN)], { is: 'unknown' }],
    ['it is confirmed', [at(0, confirmed)], { ...LANDED, commitment: 'confirmed' }],
    ['it is final', [at(0, finalized)], { ...LANDED, commitment: 'finalized' }],
    ['one of two sees it', [at(0), at(0, confirmed)], { ...LANDED, commitment: 'confirmed' }],
    ['one sees it, the other has it expired', [at(9999), at(0, confirmed)], { ...LANDED, commitment: 'confirmed' }],
    ['it is there and time is up', [at(9999, confirmed)], { ...LANDED, commitment: 'confirmed' }],
    ['one is further than the other', [at(0, confirmed), at(0, finalized)], { ...LANDED, commitment: 'finalized' }],
    ['it failed', [at(0, failed)], { is: 'failed', error: '"AccountInUse"' }],
    ['it failed, and the other does not see it', [at(9999), at(0, failed)], { is: 'failed', error: '"AccountInUse"' }],
    ['they contradict each other', [at(0, failed), at(0, finalized)], { ...LANDED, commitment: 'finalized' }],
    ['they contradict each other early', [at(0, failed), at(0, confirmed)], { ...LANDED, commitment: 'confirmed' }],
  ] as const)('T-19 ANCH-07 %s', (_name, sightings, fate) => {
    expect(fateOf(sightings, LAST_VALID)).toEqual(fate)
    expect(fateOf(sightings.toReversed(), LAST_VALID)).toEqual(fate)
  })
})
