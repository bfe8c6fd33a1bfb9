import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Exchange as HttpExchange, openExchange as openHttpExchange } from '../http/exchange.ts'
import type { Fault } from './faults.ts'

/** One request to the store and its answer, in the words of the JSON API. */
export interface Exchange extends Omit<HttpExchange, 'answer'> {
  /** How many bytes of a chunk may be kept. */
  keepOfChunk: number
  /** Whether the session has expired when the request arrives, and the status of that answer. */
  expireSession: number | null
  /** An object is sent as JSON. */
  answer(status: number, value?: object | string, headers?: Record<string, string>): void
  /** An error in the form of the JSON API. */
  refuse(status: number, reason: string, message: string): void
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  fault: Fault | null,
): Exchange {
  const http = openHttpExchange(request, response, url, fault)
  const keepsPart = typeof fault === 'object' && fault && 'keepOfChunk' in fault
  const expires = typeof fault === 'object' && fault && 'expireSession' in fault

  function answer(status: number, value?: object | string, headers: Record<string, string> = {}): void {
    const isJson = typeof value === 'object'
    const type = { 'content-type': isJson ? 'application/json; charset=UTF-8' : 'text/plain' }
    http.answer(status, { ...(value !== undefined && type), ...headers }, isJson ? JSON.stringify(value) : value)
  }

  return {
    ...http,
    keepOfChunk: keepsPart ? fault.keepOfChunk : Number.POSITIVE_INFINITY,
    expireSession: expires ? fault.expireSession : null,
    answer,
    refuse(status, reason, message) {
      answer(status, { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } })
    },
  }
}
