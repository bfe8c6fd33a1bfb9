import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from '../http-server.ts'
import { invalidParams, RPC_CODES, RpcError } from '../rpc-error.ts'
import type { PrimaryChain } from './chain.ts'
import { faucetMethods } from './faucet.ts'
import { parseJson, stringifyJson } from './json.ts'
import { accountMethods } from './methods/accounts.ts'
import { clusterMethods } from './methods/cluster.ts'
import type { Methods } from './methods/params.ts'
import { sendingMethods } from './methods/sending.ts'
import { tokenMethods } from './methods/tokens.ts'
import { transactionMethods } from './methods/transactions.ts'

const METHODS: Methods = {
  ...accountMethods,
  ...clusterMethods,
  ...faucetMethods,
  ...sendingMethods,
  ...tokenMethods,
  ...transactionMethods,
}

const MAX_BODY_BYTES = 1024 * 1024

/** JSON-RPC 2.0 over HTTP, as a node serves it: POST of application/json, open to every origin. */
export function createFront(chain: () => PrimaryChain, isRefused = () => false) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.setHeader('access-control-allow-origin', '*')
    if (request.method === 'OPTIONS') return allowEverything(request, response)
    if (request.method === 'GET' && request.url === '/health') return send(response, 200, 'text/plain', 'ok')
    if (request.method !== 'POST')
      return send(response, 405, 'text/plain', 'Used HTTP Method is not allowed. POST or OPTIONS is required\n')
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      const text = 'Supplied content type is not allowed. Content-Type: application/json is required\n'
      return send(response, 415, 'text/plain', text)
    }
    if (isRefused()) return send(response, 429, 'text/plain', 'Too many requests')
    const body = await readBody(request, MAX_BODY_BYTES)
    if (body === null) return send(response, 413, 'text/plain', `A request may have at most ${MAX_BODY_BYTES} bytes\n`)
    send(response, 200, 'application/json; charset=utf-8', await answerBody(chain(), body))
  }
}

function allowEverything(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-methods': 'OPTIONS, GET, POST',
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': '86400',
  })
  response.end()
}

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

/** Answers a single request or a batch; the empty text when it held only notifications. */
async function answerBody(chain: PrimaryChain, body: string): Promise<string> {
  let request: unknown
  try {
    request = parseJson(body)
  } catch {
    return stringifyJson(failure(null, new RpcError(RPC_CODES.parseError, 'Parse error')))
  }
  if (!Array.isArray(request)) {
    const answer = await answerOne(chain, request)
    return answer === undefined ? '' : stringifyJson(answer)
  }
  if (request.length === 0) return stringifyJson(failure(null, invalidRequest()))
  const answers: unknown[] = []
  for (const one of request) answers.push(await answerOne(chain, one))
  const wanted = answers.filter((answer) => answer !== undefined)
  return wanted.length === 0 ? '' : stringifyJson(wanted)
}

async function answerOne(chain: PrimaryChain, request: unknown): Promise<unknown> {
  if (typeof request !== 'object' || request === null) return failure(null, invalidRequest())
  const { id, method, params } = request as Record<string, unknown> // any object may be read as a record of unknowns
  if (typeof method !== 'string' || !isId(id)) return failure(isId(id) ? (id ?? null) : null, invalidRequest())
  try {
    const result = await call(chain, method, params ?? [])
    return id === undefined ? undefined : { jsonrpc: '2.0', result, id }
  } catch (error) {
    return id === undefined ? undefined : failure(id, error)
  }
}

function call(chain: PrimaryChain, name: string, params: unknown): unknown {
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined
  if (method === undefined) throw new RpcError(RPC_CODES.methodNotFound, 'Method not found')
  if (!Array.isArray(params)) throw invalidParams('Invalid params: `params` must be a list')
  chain.pass(name)
  return method(chain, params)
}

function isId(id: unknown): boolean {
  return id === undefined || id === null || ['string', 'number', 'bigint'].includes(typeof id)
}

function invalidRequest(): RpcError {
  return new RpcError(RPC_CODES.invalidRequest, 'Invalid request')
}

function failure(id: unknown, error: unknown) {
  if (!(error instanceof RpcError)) {
    console.error('The local primary chain failed to answer a request:', error)
    return { jsonrpc: '2.0', error: { code: RPC_CODES.internalError, message: 'Internal error' }, id }
  }
  const { code, message, data } = error
  return { jsonrpc: '2.0', error: { code, message, ...(data !== undefined && { data }) }, id }
}
