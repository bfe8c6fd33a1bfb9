import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from '../http-server.ts'
import { RPC_CODES, RpcError } from '../rpc-error.ts'
import type { EvmChain } from './chain.ts'

type Node = Pick<EvmChain, 'request'>
type RpcRequest = { jsonrpc: '2.0'; id: number | string; method: string; params?: unknown[] }

const MAX_BODY_BYTES = 8 * 1024 * 1024

// Wallets in any web page may use the chain.
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': '*',
}

/** JSON-RPC 2.0 over HTTP: errors travel in the body with status 200, as hardhat's node sends them. */
export function createFront(chain: Node, isRefused = () => false) {
  const node: Node = {
    async request(request) {
      if (isRefused()) throw new RpcError(RPC_CODES.limitExceeded, 'limit exceeded')
      return chain.request(request)
    },
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, CORS).end()
      return
    }
    const answer = await answerBody(node, request)
    response.writeHead(200, { ...CORS, 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }
}

async function answerBody(chain: Node, request: IncomingMessage): Promise<unknown> {
  let body: unknown
  try {
    const text = await readBody(request, MAX_BODY_BYTES)
    if (text === null) throw new Error(`the body is longer than ${MAX_BODY_BYTES} bytes`)
    body = JSON.parse(text)
  } catch (error) {
    return failure(null, new RpcError(RPC_CODES.parseError, `Parse error: ${messageOf(error)}`))
  }
  if (!Array.isArray(body)) return answerOne(chain, body)
  if (body.length === 0) return failure(null, invalidRequest('the batch is empty'))
  const answers = []
  for (const one of body) answers.push(await answerOne(chain, one))
  return answers
}

async function answerOne(chain: Node, request: unknown): Promise<unknown> {
  if (!isRequest(request))
    return failure(null, invalidRequest('expected jsonrpc "2.0", id, method and a list of params'))
  const { id, method, params = [] } = request
  try {
    return { jsonrpc: '2.0', id, result: await chain.request({ method, params }) }
  } catch (error) {
    return failure(id, error instanceof RpcError ? error : new RpcError(RPC_CODES.internalError, messageOf(error)))
  }
}

function failure(id: number | string | null, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

function invalidRequest(what: string): RpcError {
  return new RpcError(RPC_CODES.invalidRequest, `Invalid request: ${what}`)
}

function isRequest(value: unknown): value is RpcRequest {
  if (typeof value !== 'object' || value === null) return false
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  const hasId = typeof id === 'number' || typeof id === 'string'
  return jsonrpc === '2.0' && hasId && typeof method === 'string' && (params === undefined || Array.isArray(params))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
