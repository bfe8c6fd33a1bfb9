// Default addresses of the services that `npm start` runs on this machine.

import type { Wallet } from './wallets/wallet.ts'

export const LOCAL_GATEWAY = 'http://localhost:8402'
const LOCAL_AGENT = 'http://localhost:8403'
const LOCAL_NODES = { solana: 'http://127.0.0.1:8899', eip155: 'http://127.0.0.1:8545' }

export const LOCAL_SERVICES = [
  { name: 'the gateway', url: LOCAL_GATEWAY },
  { name: 'the agent service', url: LOCAL_AGENT },
  { name: 'the primary chain', url: LOCAL_NODES.solana },
  { name: 'the EVM chain', url: LOCAL_NODES.eip155 },
]

/** The local node for paying a local service. Null for any other service. */
export function localNode(namespace: Wallet['namespace'], serviceUrl: string): string | null {
  return isPrivateHost(serviceUrl) ? LOCAL_NODES[namespace] : null
}

/** The local agent service of a local gateway. Null for any other gateway. */
export function localAgent(gatewayUrl: string): string | null {
  return isPrivateHost(gatewayUrl) ? LOCAL_AGENT : null
}

const PRIVATE = [
  /^[^.:]+$/, // localhost, and names that only a local network resolves
  /\.(localhost|local|internal|test)$/,
  /^127\./,
  /^10\./,
  /^192\.168\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^\[(::1\]|f[cd]..:|fe[89ab].:)/, // IPv6: this machine, private, link-local
]

/** Whether a URL is on this machine or its private network, where there is no real chain. */
export function isPrivateHost(url: string): boolean {
  const { hostname } = new URL(url)
  return PRIVATE.some((pattern) => pattern.test(hostname))
}
