// Paths of tiles, and bundles of entries. The first byte of an input is the number of entries to read from a bundle.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { latin1, must, mustEqual } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { entryBundle, hashesOf, readEntryBundle, readTilePath, tilePath } from '../../src/transparency/tiles.ts'

it('T-129 no made-up input breaks the rules of tiles', async () => {
  const entries = ['one', '', 'three'].map((entry) => Buffer.from(entry))
  expect(
    await problemWith({
      examples: [
        'tile/0/000',
        'tile/63/x001/x234/567.p/255',
        'tile/entries/x001/000',
        Buffer.concat([Buffer.of(3), entryBundle(entries)]),
      ],
      words: ['tile/', 'entries/', 'x000/', '000', '.p/', '256', '/', 'x', '../', '%2f'],
      maxBytes: 70_000,
      rule(input) {
        const path = latin1(input)
        const place = readTilePath(path)
        if (place) must(tilePath(place) === path && Number.isSafeInteger(place.index), 'a tile has two paths')
        const [count = 0] = input
        const read = readEntryBundle(input.subarray(1), count)
        if (read) mustEqual(entryBundle(read), input.subarray(1), 'a bundle is written differently than it was read')
        must(
          hashesOf(input).every((hash) => hash.length === 32),
          'reads a hash of another length',
        )
      },
    }),
  ).toBeNull()
})
