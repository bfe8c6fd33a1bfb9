import { decodePDPError } from '@filoz/synapse-core/utils'
import type { TextAnswer } from '../http/exchange.ts'
import { ProviderError } from '../provider.ts'
import { isRetryableStatus } from '../timeouts.ts'

export function answerError(asked: string, { status, text }: Pick<TextAnswer, 'status' | 'text'>): ProviderError {
  return new ProviderError(reasonOf(status, text), `the provider answered ${status} to ${asked}: ${messageIn(text)}`, {
    isRetryable: isRetryableStatus(status),
    answer: { status },
  })
}

/** Whether the provider rejected a request, rather than being unreachable: then nothing was done. */
export function isRejection(error: unknown): boolean {
  return error instanceof ProviderError && error.answer !== undefined
}

/** A contract that reverts lacks funds, permission, or a valid signature. */
const REVERTED = /vm error=\[|revert reason=\[|execution reverted/

function reasonOf(status: number, text: string): ProviderError['reason'] {
  if (status === 507) return 'full'
  return [401, 402, 403].includes(status) || REVERTED.test(text) ? 'closed' : 'unavailable'
}

function messageIn(text: string): string {
  return decodePDPError(text.slice(0, 4000)).replace(/\s+/g, ' ').slice(0, 300)
}
