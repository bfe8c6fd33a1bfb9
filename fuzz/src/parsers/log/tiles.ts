// Paths of tiles, and bundles of entries. The first byte of a bundle says how many entries are asked for.

import { entryBundle, hashesOf, readEntryBundle, readTilePath, tilePath } from '@svc/protocol/transparency/tiles'
import { latin1, must, mustEqual, type Parser } from '../engine/parser.ts'

export function open(): Parser {
  const entries = ['one', '', 'three'].map((entry) => Buffer.from(entry))
  return {
    seeds: [
      'tile/0/000',
      'tile/63/x001/x234/567.p/255',
      'tile/entries/x001/000',
      Buffer.concat([Buffer.of(3), entryBundle(entries)]),
    ],
    words: ['tile/', 'entries/', 'x000/', '000', '.p/', '256', '/', 'x', '../', '%2f'],
    maxBytes: 70_000,
    check(input) {
      const path = latin1(input)
      const place = readTilePath(path)
      if (place) must(tilePath(place) === path && Number.isSafeInteger(place.index), 'a tile has two paths')
      const [count = 0] = input
      const read = readEntryBundle(input.subarray(1), count)
      if (read) mustEqual(entryBundle(read), input.subarray(1), 'a bundle is another one when it is written')
      must(
        hashesOf(input).every((hash) => hash.length === 32),
        'reads a hash of another length',
      )
    },
  }
}
