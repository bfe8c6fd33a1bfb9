import type { TextAnswer } from '../http/exchange.ts'
import { ProviderError } from '../provider.ts'
import { isRetryableStatus } from '../timeouts.ts'

const TOO_EARLY = 425

export function answerError(asked: string, { status, text }: Pick<TextAnswer, 'status' | 'text'>): ProviderError {
  const shown = text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
  return new ProviderError(reasonOf(status, shown), `${asked} was answered with ${status}: ${shown}`, {
    isRetryable: isRetryableStatus(status) || status === TOO_EARLY,
    answer: { status },
  })
}

/** Older services answer 401 when the credit does not suffice. */
function reasonOf(status: number, shown: string): ProviderError['reason'] {
  if (status === 402 || status === 507 || /insufficient (?:balance|credit|funds)/i.test(shown)) return 'full'
  return status === 401 || status === 403 ? 'closed' : 'unavailable'
}
