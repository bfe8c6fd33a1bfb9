import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { ProviderError } from '../provider.ts'
import type { Patience } from '../timeouts.ts'
import { type Body, sendBody } from './send-body.ts'
import { BUFFERING, createTimer } from './socket.ts'

export interface Request {
  method: string
  url: string
  headers: Record<string, string>
}

/**
 * Sends a request and gives its answer, whatever that says. An answer can come before all was sent: the rest is not
 * sent then. An error of the body is thrown as it came, and the store is left with less than it was told to expect.
 */
export async function exchange(
  { method, url, headers }: Request,
  body: Body,
  agent: Agent,
  patience: Patience,
): Promise<{ outgoing: ClientRequest; answer: IncomingMessage }> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  const outgoing = send(url, {
    method,
    // Bytes that are packed on their way have another length. Not signed: some on the way change it.
    headers: { 'accept-encoding': 'identity', ...headers, ...bodyHeaders(body) },
    agent,
    ...BUFFERING,
  })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.on('error', (error) => reject(new ProviderError('unavailable', error)))
  })
  answer.catch(() => {}) // told to whoever waits for it below
  const timer = createTimer(outgoing)
  try {
    if (body === null) outgoing.end()
    timer.allow(patience.connectMs)
    await Promise.race([connected(outgoing), answer])
    timer.stop()
    if (body !== null) await sendBody(outgoing, body, answer, timer, patience)
    timer.allow(patience.answerMs)
    return { outgoing, answer: await answer }
  } catch (error) {
    outgoing.destroy()
    throw error
  } finally {
    timer.stop()
  }
}

/** Who is to send much asks first: until then nothing is lost by a refusal, or by a connection that was closed. */
function bodyHeaders(body: Body): Record<string, string> {
  if (body === null) return {}
  return { 'content-length': `${body.length}`, ...(!Buffer.isBuffer(body) && { expect: '100-continue' }) }
}

async function connected(outgoing: ClientRequest): Promise<void> {
  const socket =
    outgoing.socket ?? (await new Promise<typeof outgoing.socket>((resolve) => outgoing.once('socket', resolve)))
  if (!socket?.connecting) return
  const ready = outgoing.protocol === 'https:' ? 'secureConnect' : 'connect'
  await new Promise((resolve) => socket.once(ready, resolve))
}
