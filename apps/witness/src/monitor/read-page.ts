// Reads the entries of a bundle from the log, with the gateway's data about each.

import { toHex } from '@svc/protocol/bytes'
import type { SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { TILE_WIDTH } from '@svc/protocol/transparency/tiles'
import type { Context } from '../context.ts'
import type { GatewayReader } from './gateway-reader.ts'
import type { LoggedEntry } from './judge-statements.ts'
import type { LogReader } from './log-reader.ts'

/** One pass over a log. */
export interface Round {
  context: Context
  log: LogReader
  gateway: GatewayReader
  /** The newest checkpoint, which extends all earlier ones. */
  head: SignedCheckpoint
}

/** From an entry to the end of its bundle. */
export async function readPage({ log, gateway, head }: Round, from: number): Promise<LoggedEntry[]> {
  const bundle = Math.floor(from / TILE_WIDTH)
  const entries = (await log.entries(head, bundle)).slice(from % TILE_WIDTH)
  const shown = await gateway.statements(from, entries.length)
  return entries.map((entry, i) => ({ index: from + i, digest: toHex(entry), shown: shown.get(from + i) }))
}
