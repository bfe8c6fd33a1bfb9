// One HTTP request and its answer, with a limit on every wait.

import type { Agent, ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { ProviderError } from '../provider.ts'
import { type HttpTimeouts, timedOut } from '../timeouts.ts'
import { BUFFERING } from './agent.ts'
import { type Body, bodyHeaders, type RequestTimer, sendBody } from './body.ts'

export interface HttpRequest {
  method: string
  url: string
  headers?: Record<string, string>
  body?: Body
  /** Ends the request; its reason is thrown. */
  signal?: AbortSignal
}

export interface TextAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** False when the answer came before the whole body was sent; the rest was then not sent. */
  isSent: boolean
}

/** A listing of a thousand keys has half this size. */
const MAX_TEXT_BYTES = 1024 * 1024
/**
 * How many times the idle time a whole text may take: a store that joins parts sends a few bytes now and then
 * meanwhile.
 */
const MAX_IDLE_PERIODS = 10

/**
 * Sends a request and returns its answer, whatever the status. An answer can come before the whole body was sent: the
 * rest is not sent then. An error of the body is rethrown unchanged, and the provider gets fewer bytes than announced.
 */
export async function exchange(
  { method, url, headers, body = null, signal }: HttpRequest,
  agent: Agent,
  timeouts: HttpTimeouts,
): Promise<{ outgoing: ClientRequest; answer: IncomingMessage }> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  const outgoing = send(url, {
    method,
    // Compressed bytes have another length. Not signed, because proxies change it.
    headers: { 'accept-encoding': 'identity', ...headers, ...bodyHeaders(body) },
    agent,
    ...BUFFERING,
    ...(signal && { signal }),
  })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    // This listener stays: a connection can also break after the answer.
    outgoing.on('error', (error) => reject(signal?.aborted ? signal.reason : networkError(error)))
  })
  answer.catch(() => {}) // awaited below
  const timer = createTimer(outgoing)
  try {
    if (body === null) outgoing.end()
    timer.start(timeouts.connectMs)
    await Promise.race([connected(outgoing), answer])
    timer.stop()
    if (body !== null) await sendBody(outgoing, body, answer, timer, timeouts)
    timer.start(timeouts.answerMs)
    return { outgoing, answer: await answer }
  } catch (error) {
    outgoing.destroy()
    throw error
  } finally {
    timer.stop()
  }
}

/** Like `exchange`, with the text of the answer. */
export async function exchangeText(request: HttpRequest, agent: Agent, timeouts: HttpTimeouts): Promise<TextAnswer> {
  const { outgoing, answer } = await exchange(request, agent, timeouts)
  const text = await readText(answer, timeouts)
  const isSent = outgoing.writableEnded
  if (!isSent) outgoing.destroy()
  return { status: answer.statusCode ?? 0, headers: answer.headers, text, isSent }
}

export async function readText(answer: IncomingMessage, { idleMs }: Pick<HttpTimeouts, 'idleMs'>): Promise<string> {
  const timer = setTimeout(() => answer.destroy(timedOut('the provider stopped in the middle of an answer')), idleMs)
  const end = performance.now() + MAX_IDLE_PERIODS * idleMs
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of answer) {
      timer.refresh()
      length += chunk.length
      if (length > MAX_TEXT_BYTES) throw new Error('the answer of the provider is too long')
      if (performance.now() > end) throw timedOut('the provider sends its answer too slowly')
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString()
  } catch (error) {
    throw networkError(error)
  } finally {
    clearTimeout(timer)
  }
}

function networkError(error: unknown): ProviderError {
  return error instanceof ProviderError ? error : new ProviderError('unavailable', error, { isRetryable: true })
}

function createTimer(outgoing: ClientRequest): RequestTimer {
  let timer: NodeJS.Timeout | undefined
  return {
    start(ms) {
      clearTimeout(timer)
      timer = setTimeout(() => outgoing.destroy(timedOut(`the provider did not respond for ${ms} ms`)), ms)
    },
    stop: () => clearTimeout(timer),
  }
}

async function connected(outgoing: ClientRequest): Promise<void> {
  const socket =
    outgoing.socket ?? (await new Promise<typeof outgoing.socket>((resolve) => outgoing.once('socket', resolve)))
  if (!socket?.connecting) return
  const ready = outgoing.protocol === 'https:' ? 'secureConnect' : 'connect'
  await new Promise((resolve) => socket.once(ready, resolve))
}
