// For tests: stands before a real node and answers as told, so that a reader can be shown every kind of bad node.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Call {
  method: string
  /** What the real node answers. */
  honest(): Promise<string>
}

export interface Reply {
  status?: number
  headers?: Record<string, string>
  body: string
  /** Leaves the answer without its end. */
  stalls?: boolean
}

/** Null: never a word. */
export type Behaviour = (call: Call) => Promise<Reply> | Reply | null

export interface LyingNode {
  url: string
  /** The methods called so far. */
  calls: string[]
  behave(behaviour: Behaviour): void
  stop(): Promise<void>
}

export async function startLyingNode(target: string, first: Behaviour = honestly): Promise<LyingNode> {
  const calls: string[] = []
  let behaviour = first

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const { method } = JSON.parse(body) as { method: string } // our own clients speak JSON-RPC
    calls.push(method)
    const headers = { 'content-type': 'application/json' }
    const honest = async () => (await fetch(target, { method: 'POST', headers, body })).text()
    const reply = await behaviour({ method, honest })
    if (reply) give(response, reply)
  }

  // Clients end connections, so that none asks just when its connection is closed.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    // The real node may be stopped while somebody who has given up is still answered.
    answer(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    behave(next) {
      behaviour = next
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function give(response: ServerResponse, { status = 200, headers, body, stalls = false }: Reply) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  if (stalls) response.write(body)
  else response.end(body)
}

export async function honestly({ honest }: Call): Promise<Reply> {
  return { body: await honest() }
}

/** Tells the truth but for the result of one method. Numbers above 2^53 in that result are not kept. */
export function withResult(method: string, change: (result: never) => unknown): Behaviour {
  return async (call) => {
    const body = await call.honest()
    if (call.method !== method) return { body }
    const { result, ...answer } = JSON.parse(body) as { result: never } // as the test that gives `change` knows it
    return { body: JSON.stringify({ ...answer, result: change(result) }) }
  }
}

/** Tells the truth but for one method, of which it answers this. */
export function withBody(method: string, body: string): Behaviour {
  return async (call) => ({ body: call.method === method ? body : await call.honest() })
}

const NONSENSE = [undefined, null, 'x', -1.5, {}, []]

/** An answer with one of its parts put wrong, for every part and every way to do that. */
export function* spoil(answer: unknown): Generator<unknown> {
  if (typeof answer !== 'object' || answer === null) return
  for (const [key, value] of Object.entries(answer))
    for (const wrong of [...NONSENSE, ...spoil(value)])
      yield Array.isArray(answer) ? answer.with(Number(key), wrong) : { ...answer, [key]: wrong }
}
