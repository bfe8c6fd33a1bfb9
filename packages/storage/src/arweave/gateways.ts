// Where items are read: gateways, each of which may be down, behind the others, or wrong.

import type { IncomingMessage } from 'node:http'
import { createAgent } from '../http/agent.ts'
import { exchange } from '../http/exchange.ts'
import type { Patience } from '../timeouts.ts'
import { ProviderError } from '../provider.ts'
import { pastTheEnd } from '../range.ts'
import { askingTwice } from './patience.ts'
import { Refusal } from './errors.ts'

type Look<T> = (answer: IncomingMessage) => T

export interface Gateways {
  /**
   * What the first of them has to say that gives an answer which `look` takes: it throws at those that are of no use.
   * Null when none of them knows the item; where some cannot be asked, nobody knows that.
   */
  ask<T>(method: 'GET' | 'HEAD', id: string, headers: Record<string, string>, look: Look<T>): Promise<T | null>
  isWell(): Promise<boolean>
}

export function openGateways(addresses: readonly string[], patience: Patience): Gateways {
  const agents = {
    'http:': createAgent('http:', { keepAlive: true }),
    'https:': createAgent('https:', { keepAlive: true }),
  }
  /** Those that gave trouble are asked last. */
  let order = addresses

  async function send(method: 'GET' | 'HEAD', url: string, headers: Record<string, string>): Promise<IncomingMessage> {
    const agent = url.startsWith('https:') ? agents['https:'] : agents['http:']
    return (await askingTwice(() => exchange({ method, url, headers }, null, agent, patience))).answer
  }

  function askLast(gateway: string): void {
    order = [...order.filter((other) => other !== gateway), gateway]
  }

  async function askOne<T>(
    gateway: string,
    method: 'GET' | 'HEAD',
    id: string,
    headers: Record<string, string>,
    look: Look<T>,
  ): Promise<T | null> {
    const answer = await send(method, `${gateway}/${id}`, headers)
    // Comes first of all who listen: whoever goes on does so elsewhere.
    answer.once('error', () => askLast(gateway))
    try {
      if (!isUnknown(answer)) return look(requireItem(method, answer))
      answer.resume()
      return null
    } catch (error) {
      answer.destroy()
      throw error
    }
  }

  return {
    async ask(method, id, headers, look) {
      let trouble: unknown = null
      for (const gateway of order) {
        try {
          const found = await askOne(gateway, method, id, headers, look)
          if (found !== null) return found
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error
          trouble = error
          askLast(gateway)
        }
      }
      if (trouble !== null) throw trouble
      return null
    },
    async isWell() {
      const isUp = async (gateway: string) => {
        const answer = await send('HEAD', new URL('/info', gateway).href, {})
        answer.resume()
        if ((answer.statusCode ?? 500) >= 500) throw new Error('a gateway is not well')
      }
      return Promise.any(order.map(isUp)).then(
        () => true,
        () => false,
      )
    },
  }
}

/** 202 is for items that were announced and have not come. */
function isUnknown({ statusCode }: IncomingMessage): boolean {
  return statusCode === 404 || statusCode === 202
}

function requireItem(method: string, answer: IncomingMessage): IncomingMessage {
  const { statusCode = 0, headers } = answer
  if (statusCode === 416) throw pastTheEnd()
  if (statusCode !== 200 && statusCode !== 206) throw new Refusal(`${method} of an item`, statusCode, '')
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
  if (isPlain && /^\d+$/.test(headers['content-length'] ?? '')) return answer
  throw new ProviderError('unavailable', new Error('a gateway does not tell the length of an item'))
}
