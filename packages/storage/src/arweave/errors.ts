import { HttpRefusal } from '../http/http-refusal.ts'
import { TooSlow } from '../timeouts.ts'
import { ProviderError } from '../provider.ts'

/** Any answer but those that were hoped for. */
export class Refusal extends HttpRefusal {
  constructor(asked: string, status: number, text: string) {
    const said = text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
    super(troubleOf(status, said), status, new Error(`${asked} was answered with ${status}: ${said}`))
  }
}

/** Older services answer 401 where the credit does not suffice. */
function troubleOf(status: number, said: string): ProviderError['reason'] {
  if (status === 402 || status === 507 || /insufficient (?:balance|credit|funds)/i.test(said)) return 'full'
  return status === 401 || status === 403 ? 'closed' : 'unavailable'
}

const PASSING = [408, 425, 429, 500, 502, 503, 504]

/** Whether to try again soon may help. Where one has waited long it is not soon any more. */
export function mayPass(error: unknown): boolean {
  return error instanceof Refusal ? PASSING.includes(error.status) : isBroken(error)
}

/** There was no answer, and nobody waited for one. */
export function isBroken(error: unknown): boolean {
  const isAnswer = error instanceof Refusal || !(error instanceof ProviderError)
  return !isAnswer && error.reason === 'unavailable' && !(error.cause instanceof TooSlow)
}
