// The entries of a bundle as the log has them, with what the gateway shows for each.

import { TILE_WIDTH } from '@svc/transparency/tiles'
import type { GatewayReader } from './gateway-reader.ts'
import { type LoggedEntry, loggedEntries } from './judge-statements.ts'
import type { LogReader, SignedCheckpoint } from './log-reader.ts'

export interface Readers {
  log: LogReader
  gateway: GatewayReader
}

/** From an entry to the end of its bundle. */
export async function readPage({ log, gateway }: Readers, head: SignedCheckpoint, from: number): Promise<LoggedEntry[]> {
  const bundle = Math.floor(from / TILE_WIDTH)
  const entries = (await log.entries(head, bundle)).slice(from % TILE_WIDTH)
  return loggedEntries(from, entries, await gateway.statements(from, entries.length))
}
