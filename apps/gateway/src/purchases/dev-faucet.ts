// Coins without value for the demo wallet of the pages, on the chains of `npm start`.

import { DEV_GIFTS, type GivenCoins, type giveCoins } from '@svc/api/dev-chains'
import type { Body } from '@svc/api/endpoint'
import { EVM, PRIMARY } from '@svc/api/networks'
import { ValidationError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { connectEvm } from '@svc/payments/evm/nodes'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { chainSilent } from '@svc/payments/selling/errors'
import type { SalesSecrets } from '@svc/payments/selling/settings'
import { connectSolanaUnread } from '@svc/payments/solana/nodes'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'

export type DevFaucet = (body: Body<typeof giveCoins>, wire: WireRequest) => Promise<GivenCoins>

/** As many gifts in a minute as an address may otherwise make requests, divided by this. */
const COST = 20

/** Null in production, and where a chain is not on this machine: only local chains give coins away. */
export function createDevFaucet(
  context: Context,
  { primaryRpcUrls, evmRpcUrls }: Pick<SalesSecrets, 'primaryRpcUrls' | 'evmRpcUrls'>,
): DevFaucet | null {
  const isLocal = [...primaryRpcUrls, ...evmRpcUrls].every(isOnThisMachine)
  if (context.config.mode !== 'development' || !isLocal) return null
  const { solana, evm } = context.sales.payerNodes
  const chains = {
    solana: { node: solana, pool: connectSolanaUnread(PRIMARY, primaryRpcUrls) },
    eip155: { node: evm, pool: connectEvm(EVM, evmRpcUrls) },
  }
  return async ({ namespace, address }, wire) => {
    await limitStranger(context, wire, null, COST)
    const { node, pool } = chains[namespace]
    if (!node.isAddress(address))
      throw new ValidationError({ loc: ['body', 'address'], msg: `must be an address of ${namespace}` })
    try {
      for (const [ticker, amount] of Object.entries(DEV_GIFTS[namespace]))
        await pool.first((rpc, signal) => rpc('dev_faucet', [address, ticker, amount], signal))
    } catch (error) {
      throw error instanceof ChainUnavailable ? chainSilent() : error
    }
    return { given: { ...DEV_GIFTS[namespace] } }
  }
}

function isOnThisMachine(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}
