// Tiles: the hashes of a tree in files of 256, whose names are derived from their position (C2SP tlog-tiles).

import { concat } from '../bytes.ts'
import { hashPair } from './hash-pair.ts'
import { HASH_BYTES, type Hash } from './tree.ts'

export const TILE_WIDTH = 256
const TILE_HEIGHT = 8
const MAX_LEVEL = 63

/** A tile of hashes. Level 0 has the hashes of entries; each higher level has one hash for every full tile below it. */
export interface TilePosition {
  level: number | 'entries'
  index: number
  /** 256 for a full tile. */
  width: number
}

/** The path relative to the log, such as `tile/0/x001/234.p/7`. */
export function tilePath({ level, index, width }: TilePosition): string {
  const partial = width === TILE_WIDTH ? '' : `.p/${width}`
  return `tile/${level}/${indexPath(index)}${partial}`
}

function indexPath(index: number): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.../g)!
  return groups.map((group, i) => (i === groups.length - 1 ? group : `x${group}`)).join('/')
}

const TILE_PATH = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Null for a path that names no tile. Every tile has exactly one path. */
export function readTilePath(path: string): TilePosition | null {
  const found = TILE_PATH.exec(path)
  if (!found) return null
  const [, name, digits, part] = found
  const tile: TilePosition = {
    level: name === 'entries' ? name : Number(name),
    index: Number(digits!.replace(/[x/]/g, '')),
    width: part === undefined ? TILE_WIDTH : Number(part),
  }
  const isKnown = tile.level === 'entries' || tile.level <= MAX_LEVEL
  return isKnown && Number.isSafeInteger(tile.index) && tilePath(tile) === path ? tile : null
}

/** The number of hashes of a tile in a tree of this size: up to 256, and 0 if there is no such tile. */
export function tileWidth(size: number, level: number, index: number): number {
  const inLevel = Math.floor(size / TILE_WIDTH ** level)
  return Math.max(0, Math.min(TILE_WIDTH, inLevel - index * TILE_WIDTH))
}

/** The tile with the hash of the complete subtree of 2^level entries that begins at index × 2^level. */
export function tileOfSubtree(size: number, level: number, index: number): TilePosition & { level: number } {
  const tileLevel = Math.floor(level / TILE_HEIGHT)
  const first = index * 2 ** (level % TILE_HEIGHT)
  const tile = Math.floor(first / TILE_WIDTH)
  return { level: tileLevel, index: tile, width: tileWidth(size, tileLevel, tile) }
}

export function subtreeHash(tile: Uint8Array, level: number, index: number): Hash {
  const subtrees = TILE_WIDTH / 2 ** (level % TILE_HEIGHT)
  return nodeOfTile(tile, subtrees + (index % subtrees))
}

/** The hashes above those of a tile: node 1 is the root, and the children of node n are 2n and 2n + 1. */
interface Above {
  bytes: Uint8Array
  isKnown: Uint8Array
}

/** Caches computed hashes while the tile itself is referenced, because proofs share most of their tiles. */
const above = new WeakMap<Uint8Array, Above>()

function nodeOfTile(tile: Uint8Array, node: number): Hash {
  if (node >= TILE_WIDTH) return hashAt(tile, node - TILE_WIDTH)
  let known = above.get(tile)
  if (!known) {
    known = { bytes: new Uint8Array(TILE_WIDTH * HASH_BYTES), isKnown: new Uint8Array(TILE_WIDTH) }
    above.set(tile, known)
  }
  hashNode(tile, known, node)
  return hashAt(known.bytes, node)
}

function hashNode(tile: Uint8Array, known: Above, node: number): void {
  const { bytes, isKnown } = known
  if (isKnown[node]) return
  const below = 2 * node
  const position = node * HASH_BYTES
  if (below >= TILE_WIDTH) {
    hashPair(tile, (below - TILE_WIDTH) * HASH_BYTES, bytes, position)
  } else {
    hashNode(tile, known, below)
    hashNode(tile, known, below + 1)
    hashPair(bytes, below * HASH_BYTES, bytes, position)
  }
  isKnown[node] = 1
}

export function hashAt(tile: Uint8Array, i: number): Hash {
  return tile.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)
}

export function hashesOf(tile: Uint8Array): Hash[] {
  return Array.from({ length: tile.length / HASH_BYTES }, (_, i) => hashAt(tile, i))
}

const MAX_ENTRY_BYTES = 65_535

/** The entries of a tile of level 0. Each follows its length in two bytes. */
export function entryBundle(entries: readonly Uint8Array[]): Uint8Array {
  return concat(
    ...entries.flatMap((entry) => {
      if (entry.length > MAX_ENTRY_BYTES) throw new RangeError('an entry of a log must have at most 65,535 bytes')
      return [Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry]
    }),
  )
}

/** Null unless the bytes are exactly this number of entries. */
export function readEntryBundle(bytes: Uint8Array, count: number): Uint8Array[] | null {
  const entries: Uint8Array[] = []
  let at = 0
  while (at + 2 <= bytes.length && entries.length < count) {
    const length = bytes[at]! * 256 + bytes[at + 1]!
    const entry = bytes.subarray(at + 2, at + 2 + length)
    if (entry.length !== length) return null
    entries.push(entry)
    at += 2 + length
  }
  return at === bytes.length && entries.length === count ? entries : null
}
