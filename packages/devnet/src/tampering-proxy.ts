// For tests: something between client and gateway that cuts connections, answers in the gateway's place, or lies.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

interface Seen {
  method: string
  /** With its query. */
  path: string
  headers: IncomingMessage['headers']
}

/**
 * What happens to a request: the gateway never gets it, or its answer never arrives, or only so many bytes of it do; and
 * whether whoever made it is told so.
 */
export type Fault =
  | { cut: 'request' | 'answer' | number }
  | { stall: 'request' | 'answer' }
  | { answer: { status: number; headers?: Record<string, string>; body: unknown } }
  // As a method: whoever lies about a body may say what it is.
  | { lie(body: object): unknown }
  | { bytes: (bytes: Buffer) => Uint8Array }

export interface TestProxy {
  url: string
  /** Every request so far. */
  seen: Seen[]
  /** Faults, in order, for requests whose path or body matches; after the last one they pass. */
  plan(pattern: RegExp, ...faults: Fault[]): void
  /** A fault for every such request, or for those for which the function has one. */
  always(pattern: RegExp, fault: Fault | (() => Fault | null)): void
  /** From here on everything passes. */
  behave(): void
  stop(): Promise<void>
}

export async function startProxy(target: string): Promise<TestProxy> {
  const seen: Seen[] = []
  const plans: { pattern: RegExp; next: () => Fault | null | undefined }[] = []

  /** Undefined from a plan that is used up. */
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
    await passOn(target, { request, body }, response, fault)
  }

  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    plan: (pattern, ...faults) => void plans.push({ pattern, next: () => faults.shift() }),
    always: (pattern, fault) => void plans.push({ pattern, next: typeof fault === 'function' ? fault : () => fault }),
    behave: () => void plans.splice(0),
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function passOn(
  target: string,
  { request, body }: { request: IncomingMessage; body: Buffer },
  response: ServerResponse,
  fault: Fault | null,
): Promise<void> {
  const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = request.headers
  const answer = await fetch(target + request.url, {
    method: request.method ?? 'GET',
    headers: headers as Record<string, string>,
    ...(body.length > 0 && { body: body as BodyInit }),
    redirect: 'manual',
  })
  let bytes: Uint8Array = new Uint8Array(await answer.arrayBuffer())
  if (fault && 'lie' in fault) bytes = Buffer.from(JSON.stringify(fault.lie(JSON.parse(Buffer.from(bytes).toString()))))
  if (fault && 'bytes' in fault) bytes = fault.bytes(Buffer.from(bytes))
  if (fault && 'cut' in fault && fault.cut === 'answer') return void request.socket.destroy()
  if (fault && 'stall' in fault) return
  const kept = Object.fromEntries([...answer.headers].filter(([name]) => !HOP.includes(name)))
  response.writeHead(answer.status, { ...kept, 'content-length': bytes.length })
  if (fault && 'cut' in fault) {
    response.write(bytes.subarray(0, Number(fault.cut)), () => request.socket.destroy())
    return
  }
  response.end(bytes)
}

const HOP = ['connection', 'keep-alive', 'content-length', 'transfer-encoding']
