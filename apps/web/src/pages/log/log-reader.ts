// Reads the log from its gateway: signed checkpoints, and tiles that are trusted only if they lead to a signed root.

import type { LogAnchor, LogAnchors, LogState } from '@svc/api/log'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { cosignaturesOf, readSigned, type SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { readKey } from '@svc/protocol/transparency/note'
import { proveInclusion, type ReadTile, readPrefix } from '@svc/protocol/transparency/prove'
import { tilePath } from '@svc/protocol/transparency/tiles'
import { HASH_BYTES, isIncluded, leafHash } from '@svc/protocol/transparency/tree'
import { fetchAnswer, getJson, RequestFailed } from '../../gateway.ts'

export interface ReadLog {
  state: LogState
  /** The newest checkpoint; null before the first. */
  head: SignedCheckpoint | null
  witnesses: Vouching[]
  anchor: CheckedAnchor | null
  readTile: ReadTile
}

export interface Vouching {
  name: string
  /** The time of the witness in Unix seconds; null if it has not cosigned the newest checkpoint. */
  at: number | null
}

export interface CheckedAnchor extends LogAnchor {
  /** Whether the log begins with the published tree; null if the tiles do not show it. */
  fits: boolean | null
}

/** The gateway shows data that its log has not signed. */
export class NotOfLog extends Error {
  override name = 'NotOfLog'
}

/** Whether the log failed, and not this page. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof NotOfLog || error instanceof RequestFailed
}

export async function readLog(): Promise<ReadLog> {
  const [state, text, { anchors }] = await Promise.all([
    getJson<LogState>('/v1/log'),
    fetchCheckpoint(),
    getJson<LogAnchors>('/v1/log/anchors?limit=1'),
  ])
  const key = readKey(state.vkey)
  if (typeof key === 'string') throw new NotOfLog(key)
  const head = text === null ? null : readSigned(text, [key])
  if (typeof head === 'string') throw new NotOfLog(head)
  const readTile = createReadTile()
  const newest = anchors[0]
  return {
    state,
    head,
    witnesses: vouching(state, head),
    anchor: newest ? { ...newest, fits: head && (await isLogPrefix(newest, head, readTile)) } : null,
    readTile,
  }
}

/** Null if the log has no checkpoint yet. */
async function fetchCheckpoint(): Promise<string | null> {
  try {
    return await (await fetchAnswer('/log/checkpoint', { cache: 'no-store' })).text()
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 404) return null
    throw error
  }
}

function vouching({ witnesses }: LogState, head: SignedCheckpoint | null): Vouching[] {
  return witnesses.map(({ name, vkey }) => {
    const key = readKey(vkey)
    const [found] = head && typeof key !== 'string' ? cosignaturesOf(head, [key]) : []
    return { name, at: found?.time ?? null }
  })
}

async function isLogPrefix(
  { payload }: LogAnchor,
  head: SignedCheckpoint,
  readTile: ReadTile,
): Promise<boolean | null> {
  if (payload.o !== head.origin || payload.n > head.size) return false
  const prefix = await prefixOf({ head, readTile }, payload.n)
  return prefix && toHex(prefix.root) === payload.root
}

/** The root of the first entries with its proof; null if the tiles cannot be read, or belong to another tree. */
export async function prefixOf({ head, readTile }: { head: SignedCheckpoint; readTile: ReadTile }, size: number) {
  return readPrefix(head, size, readTile).catch((error) => {
    if (isUnreadable(error)) return null
    throw error
  })
}

function createReadTile(): ReadTile {
  const tiles = new Map<string, Promise<Uint8Array>>()
  return (place) => {
    const path = tilePath(place)
    const known = tiles.get(path)
    if (known !== undefined) return known
    const tile = fetchTile(path, place.width * HASH_BYTES)
    tiles.set(path, tile)
    // The tile may be available the next time.
    tile.catch(() => tiles.delete(path))
    return tile
  }
}

async function fetchTile(path: string, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await (await fetchAnswer(`/log/${path}`, {})).arrayBuffer())
  if (bytes.length !== length) throw new NotOfLog(`${path} has ${bytes.length} bytes`)
  return bytes
}

/** Whether the tiles lead from the digest at this position to the root of the newest checkpoint. */
export async function isInLog({ head, readTile }: ReadLog, index: number, digest: string): Promise<boolean> {
  const entry = fromHex(digest, HASH_BYTES)
  if (!head || !entry || index >= head.size) return false
  const { size, root } = head
  return isIncluded({ index, size, root, leaf: leafHash(entry) }, await proveInclusion(index, size, readTile))
}
