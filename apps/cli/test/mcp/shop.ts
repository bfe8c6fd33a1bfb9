// For tests: a gateway that sells on local chains, and servers with a wallet there.

import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { fromBase58 } from '@svc/protocol/bytes'
import { type Market, openMarket } from '@svc/sdk/test/market'
import { beforeEach } from 'vitest'
import { type Desk, openDesk, startServer, type TestServer, type TransportName, type Variables } from './client.ts'

export type Chain = 'solana' | 'evm'

export interface Shop {
  market: Market
  desk: Desk
  /** Makes an open locker of the payer whose key servers have on the primary chain; returns its receipt id. */
  locker(): Promise<string>
  /** The settings of a server that pays on this chain, or that has no wallet if `chain` is null. */
  variables(chain: Chain | null, payer?: number): Promise<Variables>
  start(transport: TransportName, chain: Chain | null, variables?: Variables, now?: () => number): Promise<TestServer>
  close(): Promise<void>
}

/** A shop that the tests of a file share. Each begins without faults. */
export function useShop(open: () => Promise<Market> = openMarket): Shop {
  const shop = forAllTests(async () => openShopIn(await open()))
  beforeEach(() => shop.market.proxy.behave())
  return shop
}

export async function openShop(): Promise<Shop> {
  return openShopIn(await openMarket())
}

async function openShopIn(market: Market): Promise<Shop> {
  const desk = await openDesk()
  const servers: TestServer[] = []
  const keyFiles = new Map<string, Promise<string>>()

  /** Writes each file once: a running server may be reading it. */
  function keyFile(chain: Chain, payer: number): Promise<string> {
    const name = `${chain}-${payer}.json`
    const file = keyFiles.get(name) ?? desk.keyFile(name, keyText(chain, payer))
    keyFiles.set(name, file)
    return file
  }

  async function variables(chain: Chain | null, payer = 0): Promise<Variables> {
    const { chains, gateway } = market
    return {
      SVC_GATEWAY: gateway.url,
      SVC_PRIMARY_RPC: chains.primary.url,
      SVC_EVM_RPC: chains.evm.url,
      SVC_KEYS: market.key,
      ...(chain && { SVC_WALLET: await keyFile(chain, payer) }),
    }
  }

  return {
    market,
    desk,
    locker: async () => (await market.locker(market.solana().signer)).receipt_id,
    variables,
    async start(transport, chain, others = {}, now) {
      const server = await startServer(transport, desk, { ...(await variables(chain)), ...others }, now)
      servers.push(server)
      return server
    },
    async close() {
      await Promise.all(servers.map((server) => server.stop()))
      await market.close()
      await desk.remove()
    },
  }
}

/** The key in the format of the Solana tools or of EVM wallets. */
function keyText(chain: Chain, payer: number): string {
  if (chain === 'evm') return DEV_PAYERS[payer]!.privateKey
  const { privateKeyBytes, address } = DEMO_PAYERS[payer]!
  return JSON.stringify([...privateKeyBytes, ...fromBase58(address, 32)!])
}
