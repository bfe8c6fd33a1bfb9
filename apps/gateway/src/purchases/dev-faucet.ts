// Worthless coins for the demo wallet of the pages, on the chains of `npm start`.

import { DEV_GIFTS, type GivenCoins, type giveCoins } from '@svc/api/dev-chains'
import type { Body } from '@svc/api/endpoint'
import { EVM, PRIMARY } from '@svc/api/networks'
import { connectEvm } from '@svc/payments/evm/nodes'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { chainUnreachable } from '@svc/payments/selling/errors'
import type { SalesSecrets } from '@svc/payments/selling/settings'
import { connectSolanaUnread } from '@svc/payments/solana/nodes'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ValidationError } from '@svc/service/service-error'
import { limitAnonymous } from '../auth/limits.ts'
import type { Context } from '../context.ts'

/** The rate limit for coins is the limit for requests divided by this. */
const COST = 20

/** The nodes of the local chains, which hand out coins. */
export type LocalChains = ReturnType<typeof connectLocalChains>

/** Null in production, and when a chain is not on this machine: only local chains hand out coins. */
export function openLocalChains({ config, sales }: Context, { rpcUrls }: NodeUrls): LocalChains | null {
  const isLocal = [...rpcUrls.values()].flat().every(isOnThisMachine)
  return config.mode === 'development' && isLocal ? connectLocalChains(sales, { rpcUrls }) : null
}

type NodeUrls = Pick<SalesSecrets, 'rpcUrls'>

function connectLocalChains({ payerNode }: Context['sales'], { rpcUrls }: NodeUrls) {
  return {
    solana: { node: payerNode(PRIMARY), pool: connectSolanaUnread(PRIMARY, rpcUrls.get(PRIMARY) ?? []) },
    eip155: { node: payerNode(EVM), pool: connectEvm(EVM, rpcUrls.get(EVM) ?? []) },
  }
}

export async function giveLocalCoins(
  context: Context,
  chains: LocalChains,
  { namespace, address }: Body<typeof giveCoins>,
  wire: WireRequest,
): Promise<GivenCoins> {
  await limitAnonymous(context, wire, null, COST)
  const { node, pool } = chains[namespace]
  if (!node.isAddress(address))
    throw new ValidationError({ loc: ['body', 'address'], msg: `must be an address of ${namespace}` })
  try {
    for (const [ticker, amount] of Object.entries(DEV_GIFTS[namespace]))
      await pool.first((rpc, signal) => rpc('dev_faucet', [address, ticker, amount], signal))
  } catch (error) {
    throw error instanceof ChainUnavailable ? chainUnreachable() : error
  }
  return { given: { ...DEV_GIFTS[namespace] } }
}

function isOnThisMachine(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}
