// A driver for the slow server.

import { hash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { ProviderError, type StorageProvider } from '../src/provider.ts'
import type { SlowStore, StagedObject } from '../src/slow-store.ts'
import { fetchBytes, streamOf } from './objects.ts'

interface OrderState {
  isWhole: boolean
  ref: string | null
}

interface Question {
  headers?: Record<string, string>
  body?: string | Readable
}

export function openTestSlowStore(url: string): SlowStore {
  const ask = (method: string, path: string, question?: Question) => askServer(method, url + path, question)

  async function orderOf({ progress, saveProgress }: StagedObject): Promise<string> {
    if (progress !== null) return (progress as { order: string }).order
    const order = randomUUID()
    await saveProgress({ order })
    return order
  }

  async function stateOf(order: string): Promise<OrderState | null> {
    const response = await found(ask('GET', `/orders/${order}`))
    return response && ((await json(response)) as OrderState)
  }

  async function placeOrder(order: string, { size, sha256 }: StagedObject): Promise<OrderState> {
    const body = JSON.stringify({ size, sha256 })
    return (await json(await ask('POST', `/orders/${order}`, { body }))) as OrderState
  }

  async function send(order: string, { size, open }: StagedObject): Promise<OrderState> {
    const headers = { 'content-length': String(size) }
    return (await json(await ask('PUT', `/orders/${order}`, { headers, body: await open() }))) as OrderState
  }

  return {
    maxBytes: Number.POSITIVE_INFINITY,
    async deliver(object) {
      const order = await orderOf(object)
      const state = (await stateOf(order)) ?? (await placeOrder(order, object))
      const { ref } = state.isWhole ? state : await send(order, object)
      if (ref === null) throw new ProviderError('unavailable', new Error('the order is not sealed yet'))
      return { ref }
    },
    async read(ref, range) {
      const headers = range && { headers: { range: `bytes=${range.start}-${range.end}` } }
      return found(ask('GET', `/objects/${ref}`, headers))
    },
    async stat(ref) {
      const response = await found(ask('HEAD', `/objects/${ref}`))
      response?.resume()
      return response && { size: Number(response.headers['content-length']) }
    },
    async check() {
      const response = await ask('GET', '/health').catch(() => null)
      response?.resume()
      return response?.statusCode === 200
    },
  }
}

/** Delivers like the job of the gateway, without a database. */
export async function deliverStaged(
  slow: SlowStore,
  staging: StorageProvider,
  id: string,
  contentType = 'text/plain',
): Promise<string> {
  const bytes = (await fetchBytes(staging, { id, ref: null })) as Buffer // just written
  const { ref } = await slow.deliver({
    id,
    size: bytes.length,
    sha256: hash('sha256', bytes),
    contentType,
    open: async (range) => streamOf(range ? bytes.subarray(range.start, range.end + 1) : bytes),
    progress: null,
    saveProgress: async () => {},
    signal: new AbortController().signal,
  })
  return ref
}

async function found(asking: Promise<IncomingMessage>): Promise<IncomingMessage | null> {
  const response = await asking
  if (response.statusCode !== 404) return response
  response.resume()
  return null
}

async function askServer(method: string, url: string, { headers = {}, body = '' }: Question = {}) {
  try {
    const asking = request(url, { method, headers })
    const answering = once(asking, 'response') as Promise<[IncomingMessage]>
    const sending = typeof body === 'string' ? asking.end(body) : pipeline(body, asking)
    const [[response]] = await Promise.all([answering, sending])
    return response
  } catch (error) {
    throw new ProviderError('unavailable', error)
  }
}
