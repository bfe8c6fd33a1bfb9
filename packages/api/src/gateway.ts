// All endpoints of the gateway.

import type { Endpoint } from './endpoint.ts'
import * as info from './info.ts'
import * as purchases from './purchases.ts'

const rooms: readonly object[] = [info, purchases]

export const gatewayEndpoints: readonly Endpoint[] = rooms.flatMap((room) => Object.values(room)).filter(isEndpoint)

function isEndpoint(exported: unknown): exported is Endpoint {
  return typeof exported === 'object' && exported !== null && 'method' in exported && 'path' in exported
}
