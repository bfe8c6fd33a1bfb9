// A stand-in for Turbo, which accepts data items whole or in chunks, and for two gateways that serve them.

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Exchange } from '../http/exchange.ts'
import { createFaults, type FaultPlan } from '../http/faults.ts'
import { startProviderServer } from '../http/server.ts'
import { createUploads } from './chunks.ts'
import { type GatewayBehavior, serveGateway } from './gateway.ts'
import { acceptItem, createItems, type Item, serveItemStatus, type UploadService } from './items.ts'

export interface ArweaveServer {
  uploadUrl: string
  gateways: [first: string, second: string]
  /** How each gateway behaves. */
  behaviors: { first: GatewayBehavior; second: GatewayBehavior }
  /** Whether accepted items are final on the chain. */
  isSealing: boolean
  /** How many bytes of items can still be paid for. */
  credit: number
  /** Every request so far, as `upload|first|second METHOD /path?query`; faults match these lines too. */
  readonly requests: readonly string[]
  /** Those whose body arrived completely. */
  readonly bodies: readonly string[]
  items(): Item[]
  /** Marks an item as failed: it did not get on the chain. */
  failItem(id: string): void
  /** How many uploads in chunks were begun. */
  uploads(): number
  discardUploads(): void
  fail(plan: FaultPlan): void
  /** Removes all faults, resets the gateways, and restores the credit. */
  recover(): void
  stop(): Promise<void>
}

const NORMAL: GatewayBehavior = { lags: 'no', ignoresRange: false }

export async function startArweaveServer(): Promise<ArweaveServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-arweave-'))
  const items = createItems()
  const faults = createFaults()
  const requests: string[] = []
  const bodies: string[] = []
  const service: UploadService = {
    items,
    newPath: () => join(folder, randomUUID()),
    received: ({ method, url }) => bodies.push(`upload ${method} ${url.pathname}`),
    pay(bytes) {
      if (bytes > server.credit) return false
      server.credit -= bytes
      return true
    },
    isSealing: () => server.isSealing,
  }
  const uploads = createUploads(service)

  async function serveUpload(exchange: Exchange): Promise<void> {
    const [, , kind, token = '', uploadId = '', last = ''] = exchange.url.pathname.split('/')
    if (kind === 'info') return exchange.answer(200, {}, '{}')
    if (kind === 'tx' && uploadId === 'status') return serveItemStatus(exchange, service, token)
    if (kind === 'tx' && exchange.method === 'POST') return acceptItem(exchange, service)
    return kind === 'chunks' ? uploads.serve(exchange, uploadId, last) : exchange.answer(404)
  }

  async function serveGatewayRequest(name: 'first' | 'second', exchange: Exchange): Promise<void> {
    const [, raw, id = ''] = exchange.url.pathname.split('/')
    if (raw === 'info') return exchange.answer(200)
    return serveGateway(exchange, items, id, server.behaviors[name])
  }

  const upload = await startProviderServer({ name: 'upload', faults, requests, serve: serveUpload })
  const startGateway = (name: 'first' | 'second') =>
    startProviderServer({ name, faults, requests, serve: (exchange) => serveGatewayRequest(name, exchange) })
  const [first, second] = [await startGateway('first'), await startGateway('second')]
  const server: ArweaveServer = {
    uploadUrl: upload.url,
    gateways: [`${first.url}/raw`, `${second.url}/raw`],
    behaviors: { first: NORMAL, second: NORMAL },
    isSealing: true,
    credit: Number.POSITIVE_INFINITY,
    requests,
    bodies,
    items: items.list,
    failItem(id) {
      const item = items.find(id)
      if (item) item.hasFailed = true
    },
    uploads: uploads.count,
    discardUploads: uploads.discard,
    fail: faults.add,
    recover() {
      faults.clear()
      const credit = Number.POSITIVE_INFINITY
      Object.assign(server, { behaviors: { first: NORMAL, second: NORMAL }, isSealing: true, credit })
    },
    async stop() {
      for (const running of [upload, first, second]) await running.stop()
      await rm(folder, { recursive: true })
    },
  }
  return server
}
