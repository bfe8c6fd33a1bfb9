import type { Rpc } from '@svc/verifier/rpc'

const TIMEOUT_MS = 20_000

/** Asks a node; the only request that `svc verify` ever makes. */
export function jsonRpc(url: string, interruption: AbortSignal): Rpc {
  return async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.any([interruption, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message?: unknown } }
    if (error) throw new Error(String(error.message))
    if (result === undefined) throw new Error(`HTTP ${response.status} without a result`)
    return result
  }
}
