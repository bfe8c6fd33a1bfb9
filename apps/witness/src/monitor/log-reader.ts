// Reads the data that a log publishes: its checkpoint, and tiles that are trusted once they lead to the root of a
// checkpoint.

import { concat } from '@svc/protocol/bytes'
import { type Checkpoint, readSigned, type SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { MAX_NOTE_BYTES, type NoteKey } from '@svc/protocol/transparency/note'
import { formatProof } from '@svc/protocol/transparency/proof'
import { proveInclusion, type ReadTile, readPrefix } from '@svc/protocol/transparency/prove'
import { readEntryBundle, TILE_WIDTH, type TilePosition, tilePath, tileWidth } from '@svc/protocol/transparency/tiles'
import { HASH_BYTES, type Hash, isIncluded, leafHash } from '@svc/protocol/transparency/tree'
import { type BoundedGet, textOf, Unreadable } from './bounded-get.ts'

/** A log and its address. */
export interface FollowedLog {
  origin: string
  /** Any of them may sign for it. */
  keys: readonly NoteKey[]
  url: string
}

export interface LogReader {
  /** The newest checkpoint of the log; null for none. */
  checkpoint(): Promise<SignedCheckpoint | null>
  /** The entries of a bundle, verified against the tree of the checkpoint. */
  entries(head: Checkpoint, bundle: number): Promise<Uint8Array[]>
  /** The root of the first entries of a tree, and its proof. */
  prefix(head: Checkpoint, size: number): Promise<{ root: Hash; path: Hash[] }>
  /** A text that proves an entry in the tree of the checkpoint. */
  proof(head: SignedCheckpoint, index: number): Promise<string>
}

/** Enough for 256 digests with their lengths, and bounded against a hostile log. */
const MAX_BUNDLE_BYTES = 64 * 1024
const MAX_TILES = 64

/** Used for one round: a wrong tile is read again in the next one. */
export function createLogReader({ keys, url }: FollowedLog, get: BoundedGet): LogReader {
  const tiles = new Map<string, Promise<Uint8Array>>()

  const readTile: ReadTile = (place) => {
    const path = tilePath(place)
    const known = tiles.get(path)
    if (known !== undefined) return known
    if (tiles.size >= MAX_TILES) tiles.delete(tiles.keys().next().value!)
    const tile = fetchTile(place)
    tiles.set(path, tile)
    return tile
  }

  async function fetchTile(place: TilePosition): Promise<Uint8Array> {
    const bytes = await fetchPart(place, TILE_WIDTH * HASH_BYTES)
    const length = place.width * HASH_BYTES
    if (bytes.length < length) throw new Unreadable(`${tilePath(place)} of the log is too short`)
    return bytes.subarray(0, length)
  }

  /** Logs may drop a partial tile once there is the full one. */
  async function fetchPart(place: TilePosition, maxBytes: number): Promise<Uint8Array> {
    const full = { ...place, width: TILE_WIDTH }
    for (const each of place.width === TILE_WIDTH ? [place] : [place, full]) {
      const bytes = await get(`${url}/${tilePath(each)}`, maxBytes)
      if (bytes) return bytes
    }
    throw new Unreadable(`the log does not have ${tilePath(place)}`)
  }

  return {
    async checkpoint() {
      const bytes = await get(`${url}/checkpoint`, MAX_NOTE_BYTES)
      if (!bytes) return null
      const signed = readSigned(textOf(bytes), keys)
      if (typeof signed === 'string') throw new Unreadable(signed)
      return signed
    },

    async entries({ size, root }, bundle) {
      const width = tileWidth(size, 0, bundle)
      const place: TilePosition = { level: 'entries', index: bundle, width }
      const entries = readEntries(await fetchPart(place, MAX_BUNDLE_BYTES), width)
      if (!entries) throw new Unreadable(`${tilePath(place)} of the log is malformed`)
      const leaves = entries.map(leafHash)
      // The path of the first entry consists of all other entries of its tile, so it verifies each of them.
      const path = await proveInclusion(bundle * TILE_WIDTH, size, async (wanted) => {
        return wanted.level === 0 && wanted.index === bundle ? concat(...leaves) : readTile(wanted)
      })
      if (!isIncluded({ index: bundle * TILE_WIDTH, size, root, leaf: leaves[0]! }, path))
        throw new Unreadable(`${tilePath(place)} of the log does not lead to the root of its checkpoint`)
      return entries
    },

    async prefix(head, size) {
      const prefix = await readPrefix(head, size, readTile)
      if (!prefix) throw new Unreadable('the tiles of the log do not lead to the root of its checkpoint')
      return prefix
    },

    async proof({ size, text }, index) {
      return formatProof(index, await proveInclusion(index, size, readTile), text)
    },
  }
}

/** The first entries of a bundle that may have grown since. */
function readEntries(bytes: Uint8Array, width: number): Uint8Array[] | null {
  return readEntryBundle(bytes, width) ?? readEntryBundle(bytes, TILE_WIDTH)?.slice(0, width) ?? null
}
