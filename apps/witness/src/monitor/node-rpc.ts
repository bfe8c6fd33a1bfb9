// Questions to a node of the chain. What it answers is checked by those who ask.

import { parseStrictJson } from '@svc/protocol/strict-json'
import type { Rpc } from '@svc/verifier/rpc'
import { isObject } from '@svc/verifier/untrusted'
import { boundedPost } from './bounded-get.ts'

const MAX_ANSWER_BYTES = 256 * 1024

export function nodeRpc(url: string, signal: AbortSignal): Rpc {
  return async (method, params) => {
    const question = { jsonrpc: '2.0', id: 1, method, params }
    const answer = parseStrictJson(await boundedPost(url, question, signal, MAX_ANSWER_BYTES), MAX_ANSWER_BYTES)
    if (!isObject(answer) || answer.result === undefined) throw new Error('the node answers without a result')
    return answer.result
  }
}
