// For tests: a proxy between a client and a service that cuts connections, stalls, or changes answers.

import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Distortion, WireAnswer } from './distortions.ts'
import { startHttpServer } from './http-server.ts'

interface Seen {
  method: string
  /** With its query. */
  path: string
  headers: IncomingMessage['headers']
}

/**
 * The fault of a request. `cut` breaks the connection before the request or its answer arrives, or after this many bytes
 * of the answer; `stall` keeps it open without an answer.
 */
export type Fault =
  | { cut: 'request' | 'answer' | number }
  | { stall: 'request' | 'answer' }
  | { answer: { status: number; headers?: Record<string, string>; body: unknown } }
  // A method, so that a test may declare the type of the body.
  | { lie(body: object): unknown }
  | { bytes: (bytes: Buffer) => Uint8Array }
  | { distort: Distortion }

export interface FaultyProxy {
  url: string
  /** Every request so far. */
  seen: Seen[]
  /** Faults for requests whose path or body matches, in order; after the last one requests pass. */
  plan(pattern: RegExp, ...faults: Fault[]): void
  /** A fault for every matching request, or for those where the function returns one. */
  always(pattern: RegExp, fault: Fault | (() => Fault | null)): void
  /** Removes all faults. */
  behave(): void
  stop(): Promise<void>
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const seen: Seen[] = []
  let last: WireAnswer | null = null
  const plans: { pattern: RegExp; next: () => Fault | null | undefined }[] = []

  /** An exhausted plan returns undefined. */
  function faultFor(...texts: string[]): Fault | null {
    for (const { pattern, next } of plans) {
      const fault = texts.some((text) => pattern.test(text)) ? next() : undefined
      if (fault !== undefined) return fault
    }
    return null
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request
    seen.push({ method, path, headers })
    const body = await buffer(request)
    const fault = faultFor(path, body.subarray(0, 1000).toString('latin1'))
    if (fault && 'cut' in fault && fault.cut === 'request') return void request.socket.destroy()
    if (fault && 'stall' in fault && fault.stall === 'request') return
    if (fault && 'answer' in fault) {
      response.writeHead(fault.answer.status, { 'content-type': 'application/json', ...fault.answer.headers })
      return void response.end(
        typeof fault.answer.body === 'string' ? fault.answer.body : JSON.stringify(fault.answer.body),
      )
    }
    const answer = await forward(target, { request, body })
    if (fault && 'distort' in fault) fault.distort(request.socket, answer, last)
    else sendAnswer(request, response, answer, fault)
    last = answer
  }

  const { url, stop } = await startHttpServer(handle)
  return {
    url,
    seen,
    plan: (pattern, ...faults) => void plans.push({ pattern, next: () => faults.shift() }),
    always: (pattern, fault) => void plans.push({ pattern, next: typeof fault === 'function' ? fault : () => fault }),
    behave: () => void plans.splice(0),
    stop,
  }
}

/** Forwards the request unchanged, with the client's Host header, which signatures cover. */
async function forward(
  target: string,
  { request, body }: { request: IncomingMessage; body: Buffer },
): Promise<WireAnswer> {
  const headers = without(request.headers, [...HOP_HEADERS, 'accept-encoding', 'expect'])
  const { method = 'GET', url } = request
  const outgoing = httpRequest(target + url, { method, agent: false, headers: { ...headers, connection: 'close' } })
  outgoing.setHeader('content-length', body.length)
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  // The answer to HEAD has the length of a body that does not come.
  const dropped = method === 'HEAD' ? HOP_HEADERS.filter((name) => name !== 'content-length') : HOP_HEADERS
  return { status: answer.statusCode ?? 0, headers: without(answer.headers, dropped), body: await buffer(answer) }
}

function without(headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !names.includes(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]))
}

function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: WireAnswer, fault: Fault | null): void {
  let bytes: Uint8Array = answer.body
  if (fault && 'lie' in fault) bytes = Buffer.from(JSON.stringify(fault.lie(JSON.parse(Buffer.from(bytes).toString()))))
  if (fault && 'bytes' in fault) bytes = fault.bytes(Buffer.from(bytes))
  if (fault && 'cut' in fault && fault.cut === 'answer') return void request.socket.destroy()
  if (fault && 'stall' in fault) return
  response.writeHead(answer.status, { 'content-length': bytes.length, ...answer.headers })
  if (fault && 'cut' in fault) {
    response.write(bytes.subarray(0, Number(fault.cut)), () => request.socket.destroy())
    return
  }
  response.end(bytes)
}

const HOP_HEADERS = ['connection', 'keep-alive', 'content-length', 'transfer-encoding']
