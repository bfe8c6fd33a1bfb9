// Trees of logs, and proofs out of them, good and bad.

import { consistencyOf, leafOf, pathOf, rootOf } from './log.ts'

/** The entry with index i is the text `entry i`. */
export function entriesOf(size: number): Buffer[] {
  return Array.from({ length: size }, (_, i) => Buffer.from(`entry ${i}`))
}

export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
export const rootAt = (size: number) => hex(rootOf(entriesOf(size)))
export const NO_HASH = hex(rootOf([]))

function inclusion(index: number, size: number) {
  const entries = entriesOf(size)
  const proof = pathOf(index, entries).map(hex)
  const entry = hex(entries[index] as Buffer)
  return { what: `entry ${index} of ${size}`, index, size, entry, root: rootAt(size), proof, holds: true }
}

function consistency(from: number, to: number) {
  const proof = consistencyOf(from, entriesOf(to)).map(hex)
  const earlier = { size: from, root: rootAt(from) }
  return { what: `${from} to ${to}`, earlier, later: { size: to, root: rootAt(to) }, proof, holds: true }
}

export function trees() {
  const good = inclusion(4, 7)
  const grown = consistency(3, 7)
  const doubled = consistency(4, 8)
  const bad = (what: string, change: object) => ({ ...good, what, ...change, holds: false })
  const wrong = (what: string, change: object) => ({ ...grown, what, ...change, holds: false })
  return {
    entries: entriesOf(20).map(hex),
    roots: Array.from({ length: 21 }, (_, size) => rootAt(size)),
    inclusion: [
      ...[1, 2, 3, 5, 8, 13].flatMap((size) => Array.from({ length: size }, (_, i) => inclusion(i, size))),
      ...[0, 255, 256, 299].map((index) => inclusion(index, 300)),
      bad('another index', { index: 5 }),
      bad('an index outside of the tree', { index: 7 }),
      bad('another size', { size: 9 }),
      bad('another entry', { entry: hex(Buffer.from('entry 5')) }),
      bad('the hash of a leaf as an entry', { entry: hex(leafOf(Buffer.from('entry 4'))) }),
      bad('another root', { root: rootAt(8) }),
      bad('no proof', { proof: [] }),
      bad('a hash is missing', { proof: good.proof.slice(1) }),
      bad('a hash too many', { proof: [...good.proof, NO_HASH] }),
      bad('hashes in another order', { proof: good.proof.toReversed() }),
      bad('an empty tree', { index: 0, size: 0, root: NO_HASH, proof: [] }),
    ],
    consistency: [
      ...[3, 4, 7, 8, 13].flatMap((to) => Array.from({ length: to }, (_, i) => consistency(i + 1, to))),
      ...[255, 256, 257].map((from) => consistency(from, 300)),
      { ...consistency(0, 0), later: { size: 7, root: rootAt(7) }, what: 'from an empty tree' },
      wrong('another root before', { earlier: { size: 3, root: rootAt(2) } }),
      wrong('another root after', { later: { size: 7, root: rootAt(6) } }),
      wrong('another size before', { earlier: { size: 2, root: rootAt(3) } }),
      wrong('back in time', { earlier: grown.later, later: grown.earlier }),
      wrong('a hash is missing', { proof: grown.proof.slice(1) }),
      wrong('a hash too many', { proof: [...grown.proof, NO_HASH] }),
      wrong('no proof', { proof: [] }),
      wrong('the same size with two roots', { earlier: { size: 7, root: rootAt(6) }, proof: [] }),
      wrong('from an empty tree with a hash', { earlier: { size: 0, root: NO_HASH } }),
      {
        ...doubled,
        what: 'the earlier root begins a proof that must not contain it',
        proof: [rootAt(4), ...doubled.proof],
        holds: false,
      },
    ],
  }
}
