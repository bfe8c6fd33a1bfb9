// An HTTP node with configurable answers.

import type { IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { startHttpServer } from '@svc/devnet/http-server'
import { json, text } from '@svc/devnet/properties/rules'

export interface LyingNode {
  url: string
  /** JSON with the result of each method; any other text is the whole answer to each request. */
  answer(input: Uint8Array): void
  stop(): Promise<void>
}

export async function startLyingNode(): Promise<LyingNode> {
  let body = ''
  let results: Record<string, unknown> | null = null

  async function answerTo(request: IncomingMessage): Promise<string> {
    const { id, method } = JSON.parse(await textOf(request)) as { id: unknown; method: string } // our clients write it
    if (!results) return body
    return JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })
  }

  const { url, stop } = await startHttpServer(async (request, response) => {
    const answer = await answerTo(request)
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
  return {
    url,
    answer(input) {
      const given = json(input)
      body = text(input)
      results = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : null
    },
    stop,
  }
}
