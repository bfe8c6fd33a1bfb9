// Requests over HTTP whose waiting has an end.

import http, { type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import https from 'node:https'
import { PassingTrouble, type Patience } from './patience.ts'

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  headers?: OutgoingHttpHeaders
  body?: readonly Uint8Array[]
  signal?: AbortSignal
}

const MOST_TEXT_BYTES = 4 * 1024 * 1024

/** Sends it whole; resolves with the head of the answer. */
export function send(request: HttpRequest, { connectMs, idleMs }: Patience): Promise<IncomingMessage> {
  const { method, url, headers, body, signal } = request
  const length = body && { 'content-length': lengthOf(body) }
  const options = { method, headers: { ...headers, ...length }, timeout: connectMs, ...(signal && { signal }) }
  return new Promise((resolve, reject) => {
    const outgoing = (url.startsWith('https:') ? https : http).request(url, options)
    let answer: IncomingMessage | null = null
    outgoing.setTimeout(idleMs)
    outgoing.on('timeout', () => {
      // When we are the ones who wait, for whoever reads it, the store is not to blame.
      if (answer?.isPaused()) outgoing.setTimeout(idleMs)
      else (answer ?? outgoing).destroy(new Error('no sign of life from the store'))
    })
    // The head of an answer may not come by drips either.
    let overdue: NodeJS.Timeout | undefined
    outgoing.on('finish', () => {
      overdue = setTimeout(() => outgoing.destroy(new Error('no whole answer from the store')), idleMs)
    })
    outgoing.on('close', () => clearTimeout(overdue))
    outgoing.on('response', (response) => {
      clearTimeout(overdue)
      answer = response
      resolve(response)
    })
    // Stays for good: a connection may also break after the answer.
    outgoing.on('error', (error) => reject(signal?.aborted ? signal.reason : new PassingTrouble(error)))
    for (const piece of body ?? []) outgoing.write(piece)
    outgoing.end()
  })
}

/** All of it within the time given. Flowing, as an answer that is read in another way looks paused. */
export function readText(answer: IncomingMessage, withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const overdue = setTimeout(() => answer.destroy(new Error('the store takes too long for an answer')), withinMs)
    answer.on('close', () => clearTimeout(overdue))
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > MOST_TEXT_BYTES) answer.destroy(new Error('the store answers without end'))
    })
    answer.on('end', () => resolve(Buffer.concat(chunks).toString()))
    answer.on('error', (error) => reject(new PassingTrouble(error)))
  })
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
