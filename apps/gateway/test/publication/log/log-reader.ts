// Reads a log as its public readers do: over HTTP, trusting only what its checkpoint proves.

import { writable } from '@svc/devnet/writable'
import { toHex } from '@svc/protocol/bytes'
import { readCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { isSignedBy, type NoteKey } from '@svc/protocol/transparency/note'
import { proveConsistency, rootFromTiles } from '@svc/protocol/transparency/prove'
import { hashAt, readEntryBundle, TILE_WIDTH, type TilePosition, tilePath } from '@svc/protocol/transparency/tiles'
import { isConsistent, leafHash } from '@svc/protocol/transparency/tree'
import { expect } from 'vitest'
import type { Db } from '../../../src/db/schema.ts'

export interface SeenHead {
  size: number
  root: Uint8Array
}

export function logReader(url: string, key: NoteKey) {
  async function tile(place: TilePosition): Promise<Uint8Array> {
    const response = await fetch(`${url}/log/${tilePath(place)}`)
    expect(response.status, tilePath(place)).toBe(200)
    return new Uint8Array(await response.arrayBuffer())
  }

  async function head(): Promise<SeenHead> {
    const checkpoint = readCheckpoint(await (await fetch(`${url}/log/checkpoint`)).text())
    if (typeof checkpoint === 'string') throw new Error(checkpoint)
    expect(isSignedBy(checkpoint.note, key)).toBe(true)
    return { size: checkpoint.size, root: checkpoint.root }
  }

  /** All digests. Checks each against the tree, and the tree against the root. */
  async function entries({ size, root }: SeenHead): Promise<string[]> {
    const digests: string[] = []
    for (let index = 0; index * TILE_WIDTH < size; index++) {
      const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH)
      const bundle = readEntryBundle(await tile({ level: 'entries', index, width }), width)
      const hashes = await tile({ level: 0, index, width })
      for (const [i, entry] of (bundle ?? []).entries()) expect(leafHash(entry)).toEqual(hashAt(hashes, i))
      digests.push(...(bundle ?? []).map(toHex))
    }
    expect(await rootFromTiles(size, tile)).toEqual(root)
    return digests
  }

  async function expectGrown(earlier: SeenHead, later: SeenHead): Promise<void> {
    const proof = await proveConsistency(earlier.size, later.size, tile)
    expect(isConsistent(earlier, later, proof)).toBe(true)
  }

  return { tile, head, entries, expectGrown }
}

let statementCount = 0

/** Adds this many statements, rotating among the receipts, and returns their digests in the order of insertion. */
export async function addStatements(db: Db, count: number, receipts = 1): Promise<string[]> {
  const digests: string[] = []
  while (digests.length < count) {
    const rows = Array.from({ length: Math.min(1000, count - digests.length) }, () => {
      const number = statementCount++
      return {
        receipt_id: `rcpt_${number % receipts}`,
        sequence: 1_000_000 + number,
        locker_id: 'locker',
        snapshot_key: 'snapshot',
        statement_digest: toHex(leafHash(Buffer.from(`statement ${number} of ${process.pid}`))),
        record: '{}',
        anchor: null,
        issued_at: 1,
      }
    })
    await writable(db).insertInto('statements').values(rows).execute()
    digests.push(...rows.map(({ statement_digest }) => statement_digest))
  }
  return digests
}
