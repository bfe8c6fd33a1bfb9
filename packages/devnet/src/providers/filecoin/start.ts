// A stand-in for a storage provider of Filecoin and for the chain behind it, on one port: pieces are taken and served,
// and added to data sets of a contract for those who signed for it.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { finished } from 'node:stream/promises'
import type { Address } from 'viem'
import { openExchange } from '../http/exchange.ts'
import { createFaults, type Fault } from '../http/faults.ts'
import { type Chain, createChain } from './chain.ts'
import { openPieces, type Pieces } from './pieces.ts'
import { serveDataSets } from './serve-data-sets.ts'
import { servePieces, serveRetrieval } from './serve-pieces.ts'
import { serveRpc } from './serve-rpc.ts'

export interface FilecoinServerOptions {
  /** Where pieces are kept. */
  folder: string
  /** How often somebody must look until a transaction is on the chain, and a piece ready; once by default. */
  looks?: number
  /** As providers that give all whatever range is asked for. */
  ignoresRanges?: boolean
  /** Believes what it is told about bytes, which it would else compute by itself, slowly. */
  isTrusting?: boolean
}

export interface FilecoinServer {
  url: string
  rpcUrl: string
  chainId: 31415926
  recordKeeper: Address
  payee: Address
  pieces: Pieces
  chain: Chain
  /** Every request so far, as `METHOD /path?query`. */
  readonly requests: readonly string[]
  fail(fault: Fault): void
  /** Nothing fails any more. */
  recover(): void
  stop(): Promise<void>
}

const CHAIN_ID = 31415926
const RECORD_KEEPER: Address = '0x000000000000000000000000000000000f1ec011'
const PAYEE: Address = '0x00000000000000000000000000000000000fa7ee'

export async function startFilecoinServer(options: FilecoinServerOptions): Promise<FilecoinServer> {
  const { folder, looks = 1, ignoresRanges = false, isTrusting = false } = options
  const domain = { chainId: CHAIN_ID, verifyingContract: RECORD_KEEPER }
  const pieces = await openPieces(folder, looks, isTrusting)
  const chain = createChain(domain, PAYEE, looks)
  const faults = createFaults()
  const requests: string[] = []
  // An upload may take longer than the five minutes that are usual.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 })
  const receive = (request: IncomingMessage, response: ServerResponse) =>
    void serve(request, response).catch(() => response.destroy())
  server.on('request', receive)
  server.on('checkContinue', receive)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  const url = `http://127.0.0.1:${port}`

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`
    requests.push(line)
    const mishap = faults.strike(line)
    if (mishap === 'silence') return
    const exchange = openExchange(request, response, new URL(request.url ?? '/', url), mishap)
    const refusal = typeof mishap === 'object' && mishap && 'status' in mishap ? mishap : null
    if (refusal && !refusal.afterBody) return exchange.answer(refusal.status, {}, refusal.code)
    if (request.headers.expect) response.writeContinue()
    if (refusal) {
      await finished(request.resume())
      return exchange.answer(refusal.status, {}, refusal.code)
    }
    const { pathname } = exchange.url
    if (pathname === '/rpc/v1') return serveRpc(exchange, chain, domain, PAYEE)
    if (pathname === '/pdp/ping') return exchange.answer(200)
    if (pathname.startsWith('/pdp/data-sets')) return serveDataSets(exchange, chain, pieces, RECORD_KEEPER)
    if (pathname.startsWith('/piece/')) return serveRetrieval(exchange, pieces, ignoresRanges)
    return servePieces(exchange, pieces)
  }

  return {
    url,
    rpcUrl: `${url}/rpc/v1`,
    chainId: CHAIN_ID,
    recordKeeper: RECORD_KEEPER,
    payee: PAYEE,
    pieces,
    chain,
    requests,
    fail: faults.add,
    recover: faults.clear,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
