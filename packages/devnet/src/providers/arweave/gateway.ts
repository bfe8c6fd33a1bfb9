import { createReadStream } from 'node:fs'
import type { Exchange } from '../http/exchange.ts'
import type { Items } from './items.ts'

export interface GatewayBehavior {
  /** A lagging gateway does not have items yet: it answers 404, or 202 for `announced`. */
  lags: 'no' | 'unknown' | 'announced'
  /** Ignores `Range` and answers with the whole item. */
  ignoresRange: boolean
}

/** GET and HEAD of the data of an item. */
export async function serveGateway(
  exchange: Exchange,
  items: Items,
  id: string,
  behavior: GatewayBehavior,
): Promise<void> {
  const item = items.find(id)
  if (behavior.lags === 'announced') return exchange.answer(202, {}, 'Pending')
  if (!item || item.hasFailed || behavior.lags === 'unknown') return exchange.answer(404, {}, 'Not Found')
  const { size, path, dataStart, tags } = item
  const type = tags.find(({ name }) => name === 'Content-Type')?.value ?? 'application/octet-stream'
  const headers = { 'content-type': type, 'accept-ranges': 'bytes' }
  if (exchange.method === 'HEAD') return exchange.answer(200, { ...headers, 'content-length': size })
  const requested = behavior.ignoresRange ? null : /^bytes=(\d+)-(\d+)$/.exec(exchange.headers.range ?? '')
  const [start, end] = requested ? [Number(requested[1]), Math.min(Number(requested[2]), size - 1)] : [0, size - 1]
  if (requested && start >= size) return exchange.answer(416, { 'content-range': `bytes */${size}` })
  const length = { 'content-length': end - start + 1 }
  if (size === 0) return exchange.answer(200, { ...headers, ...length })
  const bytes = createReadStream(path, {
    start: dataStart + start,
    end: dataStart + end,
    highWaterMark: 256 * 1024,
  })
  const range = { 'content-range': `bytes ${start}-${end}/${size}` }
  await exchange.answerStream(requested ? 206 : 200, { ...headers, ...length, ...(requested && range) }, bytes)
}
