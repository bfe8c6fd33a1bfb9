// A stand-in for Turbo, which takes data items whole or in chunks, and for two gateways at which they are read.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { type Exchange, openExchange } from '../http/exchange.ts'
import { createFaults, type Fault } from '../http/faults.ts'
import type { Desk } from './desk.ts'
import { createItems, type Item } from './items.ts'
import { createUploads } from './serve-chunks.ts'
import { type GatewayMood, serveGateway } from './serve-gateway.ts'
import { takeItem, tellItem } from './serve-item.ts'

type Place = 'upload' | 'first' | 'second'

export interface ArweaveServer {
  uploadUrl: string
  gateways: [first: string, second: string]
  /** Of gateways. */
  moods: { first: GatewayMood; second: GatewayMood }
  /** What was taken is on the chain for good. */
  isSealing: boolean
  /** Public keys that have credit, in hex; null when all have. */
  payers: string[] | null
  /** Every request so far, as `PLACE METHOD /path?query`; faults strike by these lines too. */
  readonly requests: readonly string[]
  /** Those of them with a body that came whole. */
  readonly bodies: readonly string[]
  items(): Item[]
  /** Says of an item that it could not be brought to the chain. */
  failItem(id: string): void
  /** How many uploads in chunks were begun. */
  uploads(): number
  forgetUploads(): void
  fail(fault: Fault): void
  /** Nothing fails any more, and gateways are as they should be. */
  recover(): void
  stop(): Promise<void>
}

const GOOD_MOOD: GatewayMood = { lags: 'no', ignoresRange: false }

export async function startArweaveServer(): Promise<ArweaveServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-arweave-'))
  const items = createItems()
  const faults = createFaults()
  const requests: string[] = []
  const bodies: string[] = []
  const desk: Desk = {
    items,
    newPath: () => join(folder, randomUUID()),
    received: ({ method, url }) => bodies.push(`upload ${method} ${url.pathname}`),
    mayPay: (owner) => server.payers?.includes(owner.toString('hex')) ?? true,
    isSealing: () => server.isSealing,
  }
  const uploads = createUploads(desk)

  async function serveUpload(exchange: Exchange): Promise<void> {
    const [, , kind, token = '', uploadId = '', last = ''] = exchange.url.pathname.split('/')
    if (kind === 'info') return exchange.answer(200, {}, '{}')
    if (kind === 'tx' && uploadId === 'status') return tellItem(exchange, desk, token)
    if (kind === 'tx' && exchange.method === 'POST') return takeItem(exchange, desk)
    return kind === 'chunks' ? uploads.serve(exchange, uploadId, last) : exchange.answer(404)
  }

  async function serve(place: Place, exchange: Exchange): Promise<void> {
    if (place === 'upload') return serveUpload(exchange)
    const [, raw, id = ''] = exchange.url.pathname.split('/')
    if (raw === 'info') return exchange.answer(200)
    return serveGateway(exchange, items, id, server.moods[place])
  }

  async function listen(place: Place) {
    // An upload may take longer than the five minutes that are usual.
    const http = createServer({ requestTimeout: 0, keepAliveTimeout: 0 })
    async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const line = `${place} ${request.method} ${request.url}`
      requests.push(line)
      const mishap = faults.strike(line)
      if (mishap === 'silence') return
      const exchange = openExchange(request, response, new URL(request.url ?? '/', 'http://localhost'), mishap)
      const refusal = typeof mishap === 'object' && mishap && 'status' in mishap ? mishap : null
      if (refusal && !refusal.afterBody) return exchange.answer(refusal.status, {}, refusal.code)
      if (request.headers.expect) response.writeContinue()
      if (!refusal) return serve(place, exchange)
      await finished(request.resume())
      exchange.answer(refusal.status, {}, refusal.code)
    }
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      void receive(request, response).catch(() => response.destroy())
    http.on('request', answer)
    http.on('checkContinue', answer)
    http.listen(0, '127.0.0.1')
    await once(http, 'listening')
    const { port } = http.address() as AddressInfo // a listening TCP server has one
    return { http, url: `http://127.0.0.1:${port}` }
  }

  const [upload, first, second] = [await listen('upload'), await listen('first'), await listen('second')]
  const server: ArweaveServer = {
    uploadUrl: upload.url,
    gateways: [`${first.url}/raw`, `${second.url}/raw`],
    moods: { first: GOOD_MOOD, second: GOOD_MOOD },
    isSealing: true,
    payers: null,
    requests,
    bodies,
    items: items.list,
    failItem(id) {
      const item = items.find(id)
      if (item) item.hasFailed = true
    },
    uploads: uploads.count,
    forgetUploads: uploads.forget,
    fail: faults.add,
    recover() {
      faults.clear()
      Object.assign(server, { moods: { first: GOOD_MOOD, second: GOOD_MOOD }, isSealing: true, payers: null })
    },
    async stop() {
      for (const { http } of [upload, first, second]) {
        const closed = once(http, 'close')
        http.close()
        http.closeAllConnections()
        await closed
      }
      await rm(folder, { recursive: true })
    },
  }
  return server
}
