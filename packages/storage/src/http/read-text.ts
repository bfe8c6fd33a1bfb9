import type { IncomingMessage } from 'node:http'
import { ProviderError } from '../provider.ts'
import { TooSlow } from '../timeouts.ts'

/** A listing of a thousand keys has half of this. */
const MAX_BYTES = 1024 * 1024
/** So many times the silence that is borne: a store that puts parts together says a little now and then meanwhile. */
const MAX_SILENCES = 10

export async function readText(answer: IncomingMessage, idleMs: number): Promise<string> {
  const timer = setTimeout(() => answer.destroy(new TooSlow('the store stopped in the middle of an answer')), idleMs)
  const end = performance.now() + MAX_SILENCES * idleMs
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of answer) {
      timer.refresh()
      length += chunk.length
      if (length > MAX_BYTES) throw new Error('the store says more than it has to')
      if (performance.now() > end) throw new TooSlow('the store goes on answering by drips')
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString()
  } catch (error) {
    throw new ProviderError('unavailable', error)
  } finally {
    clearTimeout(timer)
  }
}
