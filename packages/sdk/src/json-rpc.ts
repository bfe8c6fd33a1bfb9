// JSON-RPC to nodes: one call at a time, or concurrent calls in one batch.

import { retry } from '@svc/concurrency/retry'
import { readJsonAnswer } from './calls/read-answer.ts'
import { networkErrorCode, networkErrorReason } from './network-errors.ts'

/** Resolves with the result of a call. Rejects with the error that the node returns. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

interface Question {
  method: string
  params: readonly unknown[]
  resolve(result: unknown): void
  reject(error: unknown): void
}

interface Answer {
  id?: unknown
  result?: unknown
  error?: { message?: unknown }
}

const BATCH_TIMEOUT_MS = 10_000
const CALL_TIMEOUT_MS = 20_000
const MAX_MESSAGE = 300

/** Makes one request for each call. */
export function jsonRpc(url: string, { signal, timeoutMs = CALL_TIMEOUT_MS }: JsonRpcOptions): Ask {
  return async (method, params) => {
    const response = await post(
      url,
      request(1, method, params),
      AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    )
    const answer = await readRpcAnswer<Answer>(response)
    if (answer.error) throw refusal(answer)
    if (answer.result === undefined) throw new Error(`HTTP ${response.status} without a result`)
    return answer.result
  }
}

export interface JsonRpcOptions {
  signal: AbortSignal
  timeoutMs?: number
}

/** Calls in the same turn of the event loop share one request, which is retried while the node is busy. */
export function askInBatches(rpcUrl: string): Ask {
  let waiting: Question[] = []

  async function send(): Promise<void> {
    const questions = waiting
    waiting = []
    try {
      const answers = await retry(() => postBatch(rpcUrl, questions), {
        attempts: 4,
        backoffMs: 150,
        isRetryable: () => true,
      })
      for (const [i, question] of questions.entries()) {
        const answer = answers.find(({ id }) => id === i + 1)
        resolveQuestion(question, answer)
      }
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }

  return (method, params) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setTimeout(send, 0)
      waiting.push({ method, params, resolve, reject })
    })
}

function resolveQuestion({ method, resolve, reject }: Question, answer: Answer | undefined): void {
  if (answer?.result !== undefined) resolve(answer.result)
  else reject(answer?.error ? refusal(answer) : new Error(`the node did not answer ${method}`))
}

function refusal({ error }: Answer): Error {
  return new Error(String(error?.message ?? 'the node refused the call').slice(0, MAX_MESSAGE))
}

async function postBatch(rpcUrl: string, questions: readonly Question[]): Promise<Answer[]> {
  const body = questions.map(({ method, params }, i) => request(i + 1, method, params))
  const response = await post(rpcUrl, body, AbortSignal.timeout(BATCH_TIMEOUT_MS))
  if (!response.ok) throw new Error(`the node answers HTTP ${response.status}`)
  const answers = await readRpcAnswer<Answer | Answer[]>(response)
  if (Array.isArray(answers)) return answers
  throw refusal(answers)
}

/** Many times longer than any expected answer. The request has a separate deadline. */
const MAX_ANSWER_BYTES = 33_554_432

async function readRpcAnswer<Expected>(response: Response): Promise<Expected> {
  const answer = await readJsonAnswer(response, { maxBytes: MAX_ANSWER_BYTES }).catch((cause) => {
    throw cause instanceof SyntaxError ? notRpc(response, cause) : cause
  })
  if (typeof answer !== 'object' || answer === null) throw notRpc(response)
  return answer as Expected // the node's interface
}

function notRpc({ status }: Response, cause?: unknown): Error {
  return new Error(`HTTP ${status} without a JSON-RPC answer`, { cause })
}

function request(id: number, method: string, params: readonly unknown[]): object {
  return { jsonrpc: '2.0', id, method, params }
}

async function post(url: string, body: object, signal: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  try {
    return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal })
  } catch (cause) {
    if (signal.aborted && networkErrorCode(cause) !== 'ETIMEDOUT') throw cause
    throw new Error(`${new URL(url).host}: ${networkErrorReason(cause)}`, { cause })
  }
}
