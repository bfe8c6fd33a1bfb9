import type { PrimaryChain } from './chain.ts'
import { parseJson, stringifyJson } from './json.ts'
import { accountMethods } from './methods/accounts.ts'
import { blockhashMethods } from './methods/blockhashes.ts'
import { clusterMethods } from './methods/cluster.ts'
import { faucetMethods } from './methods/faucet.ts'
import type { Methods } from './methods/method.ts'
import { simulationMethods } from './methods/simulation.ts'
import { tokenMethods } from './methods/tokens.ts'
import { transactionMethods } from './methods/transactions.ts'
import { invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'

const METHODS: Methods = {
  ...accountMethods,
  ...blockhashMethods,
  ...clusterMethods,
  ...faucetMethods,
  ...simulationMethods,
  ...tokenMethods,
  ...transactionMethods,
}

/** Answers one JSON-RPC 2.0 body, single or batch; the empty text when it held notifications only. */
export async function answerJsonRpc(chain: PrimaryChain, body: string): Promise<string> {
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
