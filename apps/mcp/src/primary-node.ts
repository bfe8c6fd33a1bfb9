import { isPrivateHost } from '@svc/sdk/wallets/private-host'
import type { Rpc } from '@svc/verifier/rpc'
import type { Settings } from './settings.ts'
import { LOCAL_NODES } from './wallet.ts'

const WITHIN_MS = 10_000

/** Asks the node of the primary chain that whoever runs the server chose; throws where there is none. */
export function primaryNode({ nodes, gateway }: Settings, signal: AbortSignal): Rpc {
  const url = nodes.solana ?? (isPrivateHost(gateway) ? LOCAL_NODES.solana : null)
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
