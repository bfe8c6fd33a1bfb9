import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { EvmChain } from './chain.ts'
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, RpcError } from './rpc-error.ts'

type RpcRequest = { jsonrpc: '2.0'; id: number | string; method: string; params?: unknown[] }

const LONGEST_BODY = 8 * 1024 * 1024

// Wallets in any web page may use the chain.
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': '*',
}

/** JSON-RPC 2.0 over HTTP: errors travel in the body with status 200, as hardhat's node sends them. */
export function createFront(chain: EvmChain): Server {
  // Clients end connections, so that none asks just when its connection is closed.
  return createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204, CORS).end()
      return
    }
    const answer = await answerBody(chain, request)
    response.writeHead(200, { ...CORS, 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
}

async function answerBody(chain: EvmChain, request: IncomingMessage): Promise<unknown> {
  let body: unknown
  try {
    body = JSON.parse(await readBody(request))
  } catch (error) {
    return failure(null, new RpcError(PARSE_ERROR, `Parse error: ${messageOf(error)}`))
  }
  if (!Array.isArray(body)) return answerOne(chain, body)
  if (body.length === 0) return failure(null, new RpcError(INVALID_REQUEST, 'Invalid request: the batch is empty'))
  const answers = []
  for (const one of body) answers.push(await answerOne(chain, one))
  return answers
}

async function answerOne(chain: EvmChain, request: unknown): Promise<unknown> {
  if (!isRequest(request)) {
    return failure(
      null,
      new RpcError(INVALID_REQUEST, 'Invalid request: wants jsonrpc "2.0", id, method and a list of params'),
    )
  }
  const { id, method, params = [] } = request
  try {
    return { jsonrpc: '2.0', id, result: await chain.request({ method, params }) }
  } catch (error) {
    return failure(id, error instanceof RpcError ? error : new RpcError(INTERNAL_ERROR, messageOf(error)))
  }
}

function failure(id: number | string | null, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}

function isRequest(value: unknown): value is RpcRequest {
  if (typeof value !== 'object' || value === null) return false
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  const hasId = typeof id === 'number' || typeof id === 'string'
  return jsonrpc === '2.0' && hasId && typeof method === 'string' && (params === undefined || Array.isArray(params))
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length <= LONGEST_BODY) chunks.push(chunk)
  }
  // Said only now: a client that is still sending would see a broken connection instead.
  if (length > LONGEST_BODY) throw new Error(`the body is longer than ${LONGEST_BODY} bytes`)
  return Buffer.concat(chunks).toString()
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
