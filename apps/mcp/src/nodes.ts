import { localNode } from '@svc/sdk/local-services'
import type { Wallet } from '@svc/sdk/wallets/wallet'
import type { Rpc } from '@svc/verifier/rpc'
import type { Settings } from './settings.ts'

/** The node of a chain that whoever runs the server chose; null where there is none. */
export function nodeOf({ nodes, gateway }: Settings, namespace: Wallet['namespace']): string | null {
  return nodes[namespace] ?? localNode(namespace, gateway)
}

const WITHIN_MS = 10_000

/** Asks the node of the primary chain; throws where there is none. */
export function primaryNode(settings: Settings, signal: AbortSignal): Rpc {
  const url = nodeOf(settings, 'solana')
  return async (method, params) => {
    if (url === null) throw new Error('no node is set (SVC_PRIMARY_RPC)')
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(WITHIN_MS)]),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error) throw new Error(error.message)
    return result
  }
}
