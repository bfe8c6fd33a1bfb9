// JSON-RPC over HTTP.

import { setImmediate } from 'node:timers/promises'
import { withSpan } from '@svc/service/tracing/active-span'
import { createHttpClient } from './http-client.ts'
import { NodeProblem } from './node-pool.ts'

/**
 * Makes one call and returns its result unchecked. Equal calls of one turn of the event loop share a request, which is
 * sent after all of them and ends with the signal of the first. Throws `RpcError`, `HttpProblem` or `NodeProblem`.
 */
export type JsonRpc = (method: string, params: unknown[], signal: AbortSignal) => Promise<unknown>

/** Sends a JSON text and returns the text of the answer. Traces name the method. Throws `HttpProblem` or `NodeProblem`. */
export type PostJson = (text: string, signal: AbortSignal, method: string) => Promise<string>

/** The node rejects the request before it reads it. */
export class HttpProblem extends NodeProblem {
  override name = 'HttpProblem'
  readonly status: number

  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

/** The node answers with an error. */
export class RpcError extends NodeProblem {
  override name = 'RpcError'
  readonly code: number
  /** The node's own message: never logged, because it may quote anything. */
  readonly details: string
  readonly data: unknown

  constructor(code: number, details: string, data: unknown) {
    super(`error ${code}`)
    this.code = code
    this.details = details
    this.data = data
  }
}

export function connectJsonRpc(url: string): JsonRpc {
  const post = createPostJson(url)
  const waiting = new Map<string, Promise<unknown>>()
  let lastId = 0

  async function send(call: string, method: string, signal: AbortSignal): Promise<unknown> {
    await setImmediate()
    waiting.delete(call)
    const id = ++lastId
    const question = `{"jsonrpc":"2.0","id":${id},${call.slice(1)}`
    return resultOf(answerTo({ id }, parseJson(await post(question, signal, method))))
  }

  return async (method, params, signal) => {
    const call = JSON.stringify({ method, params })
    const shared = waiting.get(call) ?? send(call, method, signal)
    waiting.set(call, shared)
    return shared
  }
}

/**
 * The answer, if it belongs to this question: a node, or a proxy before it, may send the answer to an earlier one. An
 * error may come without an id, from a node that could not read the question.
 */
export function answerTo(question: { id: unknown }, answer: unknown): RpcAnswer {
  const found = requireAnswer(answer)
  const { id, error } = found
  if (id !== question.id && !(error && id == null)) throw new NodeProblem('an answer to another question')
  return found
}

/** The shape that a node promises, unchecked. */
interface RpcAnswer {
  id?: unknown
  result?: unknown
  error?: { code?: unknown; message?: unknown; data?: unknown }
}

function requireAnswer(answer: unknown): RpcAnswer {
  if (typeof answer !== 'object' || answer === null) throw new NodeProblem('an answer of the wrong form')
  return answer
}

/**
 * Makes all calls in one request, so that one machine answers them at one moment. The results are in the order of the
 * calls; a call that fails has its `RpcError` as its result.
 */
export type JsonRpcBatch = (
  calls: readonly [method: string, params: unknown[]][],
  signal: AbortSignal,
) => Promise<unknown[]>

export function connectJsonRpcBatch(url: string): JsonRpcBatch {
  const post = createPostJson(url)
  let lastId = 0
  return async (calls, signal) => {
    const questions = calls.map(([method, params]) => ({ jsonrpc: '2.0', id: ++lastId, method, params }))
    const answers = parseJson(await post(JSON.stringify(questions), signal, calls.map(([method]) => method).join(' ')))
    if (!Array.isArray(answers)) throw new NodeProblem('no answers to a batch')
    return questions.map(({ id }) => resultOrError(requireAnswer(answers.find((answer) => answer?.id === id))))
  }
}

function resultOrError(answer: RpcAnswer): unknown {
  try {
    return resultOf(answer)
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
}

function resultOf({ result, error }: RpcAnswer): unknown {
  if (!error) return result
  const { code, message, data } = error
  // Only a plain object may be returned unread: an integer could be too large for a number.
  throw new RpcError(
    typeof code === 'object' ? Number.NaN : Number(code),
    typeof message === 'string' ? message : '',
    data,
  )
}

/** The text before a long number: hex texts of the EVM chain are full of zeros. */
const LONG_NUMBER = /(?:^|[:,[])\s*-?\d{16}/

/** Integers that a double cannot hold become bigints; all other numbers stay numbers. Throws `NodeProblem`. */
export function parseJson(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text)
  } catch {
    throw new NodeProblem('an answer that is not JSON')
  }
}

/** As many digits as 256 bits can have. Reading a million digits would take seconds. */
const EXACT = /^-?\d{1,78}$/

/** The compiler does not know the third argument yet: the source text of the value. */
function exactInteger(_key: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  const isExact = typeof value !== 'number' || Number.isSafeInteger(value) || !EXACT.test(source)
  return isExact ? value : BigInt(source)
}

export function createPostJson(url: string): PostJson {
  const configured = URL.parse(url)
  const ask = createHttpClient()
  return async (text, signal, method) => {
    if (!configured) throw new NodeProblem('an address that is not a URL')
    const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': method, 'server.address': configured.host } as const
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    return withSpan({ name: method, kind: 'client', attributes }, async () => {
      const { status, body } = await ask(configured, { method: 'POST', headers, text }, signal)
      if (status >= 200 && status < 300) return body
      throw new HttpProblem(status)
    })
  }
}
