// The published log: its checkpoint, and the tiles that the checkpoint covers.

import { lru } from '@svc/concurrency/caches'
import { singleFlight } from '@svc/concurrency/sharing'
import { type Checkpoint, readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { isSignedBy, type NoteKey } from '@svc/protocol/transparency/note'
import { type TilePosition, tilePath, tileWidth } from '@svc/protocol/transparency/tiles'
import { HASH_BYTES } from '@svc/protocol/transparency/tree'
import type { NamedFiles } from '@svc/storage/named-files'

export const CHECKPOINT = 'checkpoint'

/** An entry is a digest after its length in two bytes. */
const ENTRY_BYTES = 2 + HASH_BYTES

export interface PublishedCheckpoint extends Checkpoint {
  /** With all its signatures. */
  text: string
}

export interface PublishedLog {
  /** Null before the first checkpoint. The answer may be a second old. */
  checkpoint(): Promise<PublishedCheckpoint | null>
  /** The present checkpoint. Throws if it belongs to another log. */
  newest(): Promise<PublishedCheckpoint | null>
  /** Null if the newest checkpoint does not cover the tile. */
  tile(tile: TilePosition): Promise<Uint8Array | null>
  /** Like `tile`, for a tile that a checkpoint is known to cover. */
  coveredTile(tile: TilePosition): Promise<Uint8Array>
}

const FRESH_MS = 1000
const CACHED_BYTES = 16 * 1024 * 1024
/** A partial tile is removed when a wider one is published, which may happen during a read. */
const ATTEMPTS = 3

export function createPublished(files: NamedFiles, key: NoteKey): PublishedLog {
  /** By requested path: the content of a path never changes. */
  const cache = lru<string, Uint8Array>(CACHED_BYTES, ({ length }) => length)
  const share = singleFlight<PublishedCheckpoint | null>()
  let known: PublishedCheckpoint | null = null
  /** When its reading began: an earlier, slower reading does not replace it. */
  let knownAt = Number.NEGATIVE_INFINITY

  async function newest(): Promise<PublishedCheckpoint | null> {
    const startedAt = performance.now()
    const read = await readPublished(files, key)
    if (startedAt > knownAt) [known, knownAt] = [read, startedAt]
    return read
  }

  /** A checkpoint of another log counts as none. */
  async function shown(): Promise<PublishedCheckpoint | null> {
    try {
      return await newest()
    } catch (error) {
      if (error instanceof ForeignLog) return null
      throw error
    }
  }

  async function checkpoint(): Promise<PublishedCheckpoint | null> {
    return performance.now() - knownAt < FRESH_MS ? known : share('', shown)
  }

  /** The requested tile is the beginning of the tile as it is stored now. */
  async function read(tile: TilePosition, size: number): Promise<Uint8Array | null> {
    const { level, index } = tile
    const stored = { ...tile, width: tileWidth(size, level === 'entries' ? 0 : level, index) }
    if (stored.width < tile.width) return null
    const path = tilePath(tile)
    const known = cache.get(path)
    if (known) return known
    const bytesEach = level === 'entries' ? ENTRY_BYTES : HASH_BYTES
    const bytes = await files.read(tilePath(stored))
    if (bytes?.length !== stored.width * bytesEach) return null
    const requested = tile.width === stored.width ? bytes : bytes.slice(0, tile.width * bytesEach)
    cache.set(path, requested)
    return requested
  }

  async function readTile(tile: TilePosition): Promise<Uint8Array | null> {
    const { size } = (await checkpoint()) ?? { size: 0 }
    const bytes = await read(tile, size)
    if (bytes) return bytes
    for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
      const now = (await share('', shown)) ?? { size: 0 }
      const retried = await read(tile, now.size)
      if (retried) return retried
    }
    return null
  }

  return {
    checkpoint,
    newest,
    tile: readTile,
    async coveredTile(tile) {
      const bytes = await readTile(tile)
      if (bytes) return bytes
      throw new TileMissing(tile)
    },
  }
}

/** Throws if the checkpoint belongs to another log. */
async function readPublished(files: NamedFiles, key: NoteKey): Promise<PublishedCheckpoint | null> {
  const bytes = await files.read(CHECKPOINT)
  if (!bytes) return null
  const checkpoint = readCheckpoint(bytes)
  if (typeof checkpoint === 'string' || checkpoint.origin !== key.name || !isSignedBy(checkpoint.note, key))
    throw new ForeignLog(key.name)
  return { ...checkpoint, text: Buffer.from(bytes).toString() }
}

/** The stored checkpoint is damaged, or was not signed by this log. */
export class ForeignLog extends Error {
  override name = 'ForeignLog'

  constructor(origin: string) {
    super(`the published checkpoint does not belong to the log ${origin}`)
  }
}

export class TileMissing extends Error {
  override name = 'TileMissing'

  constructor(tile: TilePosition) {
    super(`the published log lacks ${tilePath(tile)}, or it is damaged`)
  }
}
