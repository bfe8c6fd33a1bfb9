// For tests: a proxy before a real JSON-RPC node that answers wrongly, late or never.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type HttpServerOptions, startHttpServer } from './http-server.ts'

export interface Call {
  /** The methods of a batch, with spaces between them. */
  method: string
  params: unknown[]
  /** Asks the real node. */
  honest(): Promise<string>
}

export interface Reply {
  status?: number
  headers?: Record<string, string>
  body: string
  /** Never ends the answer. */
  stalls?: boolean
}

/** Null never answers. */
export type Behaviour = (call: Call) => Promise<Reply> | Reply | null

export interface FaultyNode {
  url: string
  /** The methods called so far. */
  calls: string[]
  behave(behaviour: Behaviour): void
  stop(): Promise<void>
}

export async function startFaultyNode(
  target: string,
  first: Behaviour = honestly,
  options: Pick<HttpServerOptions, 'host'> = {},
): Promise<FaultyNode> {
  const calls: string[] = []
  let behaviour = first

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const asked = JSON.parse(body) as Question | Question[] // our own clients speak JSON-RPC
    const { id, method, params } = Array.isArray(asked) ? batchOf(asked) : asked
    calls.push(method)
    const headers = { 'content-type': 'application/json' }
    const honest = async () => (await fetch(target, { method: 'POST', headers, body })).text()
    const reply = await behaviour({ method, params, honest })
    if (reply) sendReply(response, { ...reply, body: withId(reply.body, id) })
  }

  const { url, stop } = await startHttpServer(answer, options)
  return {
    url,
    calls,
    behave(next) {
      behaviour = next
    },
    stop,
  }
}

interface Question {
  id: unknown
  method: string
  params: unknown[]
}

/** Its answers have the ids of their questions. */
function batchOf(questions: Question[]): Question {
  return { id: undefined, method: questions.map(({ method }) => method).join(' '), params: [] }
}

function sendReply(response: ServerResponse, { status = 200, headers, body, stalls = false }: Reply) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  if (stalls) response.write(body)
  else response.end(body)
}

/** Answers in tests contain `"id":1`; this replaces it with the id of the request. */
function withId(body: string, id: unknown): string {
  return id === undefined ? body : body.replace(/"id":1(?=[,}])/, `"id":${JSON.stringify(id)}`)
}

export async function honestly({ honest }: Call): Promise<Reply> {
  return { body: await honest() }
}

/** Changes the result of one method. Numbers above 2^53 in that result lose precision. */
export function withResult(method: string, change: (result: never) => unknown): Behaviour {
  return async (call) => {
    const body = await call.honest()
    if (call.method !== method) return { body }
    const { result, ...answer } = JSON.parse(body) as { result: never } // as the test that gives `change` knows it
    return { body: JSON.stringify({ ...answer, result: change(result) }) }
  }
}

/** Replaces the answer of one method. */
export function withBody(method: string, body: string): Behaviour {
  return async (call) => ({ body: call.method === method ? body : await call.honest() })
}

const WRONG_VALUES = [undefined, null, 'x', -1.5, {}, []]

/** The answer with one part replaced by a wrong value, for every part and every wrong value. */
export function* spoil(answer: unknown): Generator<unknown> {
  if (typeof answer !== 'object' || answer === null) return
  for (const [key, value] of Object.entries(answer))
    for (const wrong of [...WRONG_VALUES, ...spoil(value)])
      yield Array.isArray(answer) ? answer.with(Number(key), wrong) : { ...answer, [key]: wrong }
}
