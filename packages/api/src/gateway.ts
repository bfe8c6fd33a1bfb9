// All endpoints of the gateway.

import * as attestations from './attestations.ts'
import type { Endpoint } from './endpoint.ts'
import * as evidence from './evidence.ts'
import * as files from './files.ts'
import * as info from './info.ts'
import * as internal from './internal.ts'
import * as lockers from './lockers.ts'
import * as purchases from './purchases.ts'
import * as receipts from './receipts.ts'
import * as sponsored from './sponsored.ts'
import * as transfers from './transfers.ts'
import * as uploadSessions from './upload-sessions.ts'
import * as x402 from './x402.ts'

const rooms: readonly object[] = [
  info,
  purchases,
  receipts,
  sponsored,
  lockers,
  files,
  transfers,
  uploadSessions,
  attestations,
  evidence,
  internal,
  x402,
]

export const gatewayEndpoints: readonly Endpoint[] = rooms.flatMap((room) => Object.values(room)).filter(isEndpoint)

function isEndpoint(exported: unknown): exported is Endpoint {
  return typeof exported === 'object' && exported !== null && 'method' in exported && 'path' in exported
}
