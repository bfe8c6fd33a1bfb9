// Where `npm start` has what belongs to a gateway on this machine: taken where nobody has named anything else.

import { isPrivateHost } from './wallets/private-host.ts'
import type { Wallet } from './wallets/wallet.ts'

const NODES = { solana: 'http://127.0.0.1:8899', eip155: 'http://127.0.0.1:8545' }
const AGENT = 'http://localhost:8403'

/** The node to pay a service through; null for services elsewhere. */
export function localNode(namespace: Wallet['namespace'], serviceUrl: string): string | null {
  return isPrivateHost(serviceUrl) ? NODES[namespace] : null
}

/** The agent service of a gateway; null for gateways elsewhere. */
export function localAgent(gatewayUrl: string): string | null {
  return isPrivateHost(gatewayUrl) ? AGENT : null
}
