// Gateways, from which items are read. Each may be down, behind the others, or wrong.

import type { IncomingMessage } from 'node:http'
import { createAgent } from '../http/agent.ts'
import { checked, isIdentity } from '../http/byte-ranges.ts'
import { exchange } from '../http/exchange.ts'
import { rangePastEnd } from '../object-rules.ts'
import { ProviderError, succeeds } from '../provider.ts'
import { type HttpTimeouts, retryOnce } from '../timeouts.ts'
import { answerError } from './errors.ts'

type Use<Result> = (answer: IncomingMessage) => Result

export interface Gateways {
  /**
   * The result of the first gateway whose answer `use` accepts: it throws for unusable answers. Null when no gateway
   * knows the item; an error when some cannot be reached, because they may have it.
   */
  ask<Result>(
    method: 'GET' | 'HEAD',
    id: string,
    headers: Record<string, string>,
    use: Use<Result>,
  ): Promise<Result | null>
  isHealthy(): Promise<boolean>
}

export function openGateways(addresses: readonly string[], timeouts: HttpTimeouts): Gateways {
  const agents = {
    'http:': createAgent('http:', { keepAlive: true }),
    'https:': createAgent('https:', { keepAlive: true }),
  }
  /** Gateways that failed come last. */
  let order = addresses

  async function send(method: 'GET' | 'HEAD', url: string, headers: Record<string, string>): Promise<IncomingMessage> {
    const agent = url.startsWith('https:') ? agents['https:'] : agents['http:']
    return (await retryOnce(() => exchange({ method, url, headers }, agent, timeouts))).answer
  }

  function moveToEnd(gateway: string): void {
    order = [...order.filter((other) => other !== gateway), gateway]
  }

  async function askOne<Result>(
    gateway: string,
    method: 'GET' | 'HEAD',
    id: string,
    headers: Record<string, string>,
    use: Use<Result>,
  ): Promise<Result | null> {
    const answer = await send(method, `${gateway}/${id}`, headers)
    // The first listener: a reader that resumes then asks another gateway.
    answer.once('error', () => moveToEnd(gateway))
    return checked(answer, () => {
      if (!isUnknown(answer)) return use(requireItem(method, answer))
      answer.resume()
      return null
    })
  }

  async function requireUp(gateway: string): Promise<void> {
    const answer = await send('HEAD', new URL('/info', gateway).href, {})
    answer.resume()
    if ((answer.statusCode ?? 500) >= 500) throw new Error('a gateway is not healthy')
  }

  return {
    async ask(method, id, headers, use) {
      let failure: unknown = null
      for (const gateway of order) {
        try {
          const found = await askOne(gateway, method, id, headers, use)
          if (found !== null) return found
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error
          failure = error
          moveToEnd(gateway)
        }
      }
      if (failure !== null) throw failure
      return null
    },
    isHealthy: () => succeeds(Promise.any(order.map(requireUp))),
  }
}

/** 202 is the answer for items that were announced but have not arrived. */
function isUnknown({ statusCode }: IncomingMessage): boolean {
  return statusCode === 404 || statusCode === 202
}

function requireItem(method: string, answer: IncomingMessage): IncomingMessage {
  const { statusCode: status = 0, headers } = answer
  if (status === 416) throw rangePastEnd()
  if (status !== 200 && status !== 206) throw answerError(`${method} of an item`, { status, text: '' })
  if (isIdentity(answer) && /^\d+$/.test(headers['content-length'] ?? '')) return answer
  throw new ProviderError('unavailable', 'a gateway does not state the size of an item')
}
