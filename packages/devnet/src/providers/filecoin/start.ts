// A stand-in for a Filecoin storage provider and the chain behind it, on one port. It stores and serves pieces, and adds
// them to a contract's data sets for clients who signed for it.

import type { Address } from 'viem'
import type { Exchange } from '../http/exchange.ts'
import { createFaults, type FaultPlan } from '../http/faults.ts'
import { startProviderServer } from '../http/server.ts'
import { type Chain, createChain, FUNDED } from './chain.ts'
import { openPieces, type Pieces } from './pieces.ts'
import { serveDataSets, servePieces, serveRetrieval } from './serve-pieces.ts'
import { serveRpc } from './serve-rpc.ts'

export interface FilecoinServerOptions {
  /** Keeps the pieces. */
  folder: string
  /** How often a client must ask until a transaction is on the chain or a piece is ready; once by default. */
  looks?: number
  /** Ignores `Range` and answers with the whole piece, as some providers do. */
  ignoresRanges?: boolean
  /** Trusts the client's content ids instead of computing them, which is slow. */
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
  fail(plan: FaultPlan): void
  /** Removes all faults, and funds the account. */
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

  async function serve(exchange: Exchange): Promise<void> {
    const { pathname } = exchange.url
    if (pathname === '/rpc/v1') return serveRpc(exchange, chain, domain, PAYEE)
    if (pathname === '/pdp/ping') return exchange.answer(200)
    if (pathname.startsWith('/pdp/data-sets')) return serveDataSets(exchange, chain, pieces, RECORD_KEEPER)
    if (pathname.startsWith('/piece/')) return serveRetrieval(exchange, pieces, ignoresRanges)
    return servePieces(exchange, pieces)
  }

  const { url, stop } = await startProviderServer({ faults, requests, serve })
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
    recover() {
      faults.clear()
      Object.assign(chain.account, FUNDED)
    },
    stop,
  }
}
