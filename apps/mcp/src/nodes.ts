import type { Wallet } from '@svc/sdk'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { localNode } from '@svc/sdk/local-services'
import type { Rpc } from '@svc/verifier/rpc'
import type { Settings } from './settings.ts'

/** The node of a chain that whoever runs the server chose; null where there is none. */
export function nodeOf({ nodes, gateway }: Settings, namespace: Wallet['namespace']): string | null {
  return nodes[namespace] ?? localNode(namespace, gateway)
}

const TIMEOUT_MS = 10_000

/** Asks the node of the primary chain; throws if there is none. */
export function primaryNode(settings: Settings, signal: AbortSignal): Rpc {
  const url = nodeOf(settings, 'solana')
  if (url !== null) return jsonRpc(url, { signal, timeoutMs: TIMEOUT_MS })
  return async () => {
    throw new Error('no node is set (SVC_PRIMARY_RPC)')
  }
}
