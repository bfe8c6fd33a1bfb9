import { decodePDPError } from '@filoz/synapse-core/utils'
import { HttpRefusal } from '../http/http-refusal.ts'
import type { ProviderError } from '../provider.ts'

/** Any answer of the provider but the one that was hoped for. */
export class Refusal extends HttpRefusal {
  constructor(method: string, path: string, status: number, text: string) {
    super(
      troubleOf(status, text),
      status,
      new Error(`the provider answered ${status} to ${method} ${path}: ${saidIn(text)}`),
    )
  }
}

/** A contract that refuses lacks funds, permission, or a signature that it knows. */
const REFUSED_BY_CONTRACT = /vm error=\[|revert reason=\[|execution reverted/

function troubleOf(status: number, text: string): ProviderError['reason'] {
  if (status === 507) return 'full'
  const isClosed = [401, 402, 403].includes(status) || REFUSED_BY_CONTRACT.test(text)
  return isClosed ? 'closed' : 'unavailable'
}

function saidIn(text: string): string {
  return decodePDPError(text.slice(0, 4000)).replace(/\s+/g, ' ').slice(0, 300)
}
