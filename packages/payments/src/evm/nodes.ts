// Nodes of an EVM chain: as a pool to query, and as one viem client that switches to the next node when one does not
// answer.

import { coinOf } from '@svc/api/assets'
import type { EvmNetwork } from '@svc/api/networks'
import { retry } from '@svc/concurrency/retry'
import {
  type Account,
  BaseError,
  createClient,
  custom,
  defineChain,
  fallback,
  publicActions,
  RpcRequestError,
  type Transport,
} from 'viem'
import {
  connectJsonRpc,
  connectJsonRpcBatch,
  HttpProblem,
  type JsonRpc,
  type JsonRpcBatch,
  RpcError,
} from '../nodes/json-rpc.ts'
import {
  type ChainNode,
  createNodePool,
  type NodePool,
  NodeProblem,
  type PoolOptions,
  WrongChain,
} from '../nodes/node-pool.ts'
import { quantity } from './rpc-answers.ts'

/** Errors that a node returns are `RpcRequestError`, from which viem reads reverts. */
export type EvmRpc = JsonRpc

interface EvmPoolOptions extends Partial<PoolOptions> {
  /** How often a node is retried that is busy or cannot be reached. */
  retryCount?: number
}

const TIMEOUT_MS = 5_000
/**
 * Only the block's actual fee is paid; with a lower limit, a transaction would wait as soon as the chain gets busier.
 */
const BASE_FEE_MULTIPLIER = 2

export function connectEvm(
  { chainId }: Pick<EvmNetwork, 'chainId'>,
  rpcUrls: readonly string[],
  { retryCount = 0, timeoutMs = TIMEOUT_MS, quorum = 1 }: EvmPoolOptions = {},
): NodePool<EvmRpc> {
  const nodes = rpcUrls.map((url) => ({ url, client: connectNode(url), requireChain, describe }))
  return createNodePool('EVM chain', nodes, { timeoutMs, quorum })

  function connectNode(url: string): EvmRpc {
    const rpc = connectJsonRpc(url)
    const retries = { attempts: 1 + retryCount, backoffMs: RETRY_MS, isRetryable: isBusy }
    return (method, params, signal) =>
      retry(() => rpc(method, params, signal), { ...retries, signal }).catch((error) => {
        throw error instanceof RpcError ? viemError(error, method) : error
      })
  }

  async function requireChain(rpc: EvmRpc, signal: AbortSignal): Promise<void> {
    requireChainId(await rpc('eth_chainId', [], signal), chainId)
  }
}

/** Like `connectEvm`, for queries whose answers must belong to one moment: one address may be several machines. */
export function connectEvmBatches(
  { chainId }: Pick<EvmNetwork, 'chainId'>,
  rpcUrls: readonly string[],
  { timeoutMs = TIMEOUT_MS, quorum = 1 }: Partial<PoolOptions> = {},
): NodePool<JsonRpcBatch> {
  const nodes = rpcUrls.map((url) => ({ url, client: connectJsonRpcBatch(url), requireChain, describe }))
  return createNodePool('EVM chain', nodes, { timeoutMs, quorum })

  async function requireChain(ask: JsonRpcBatch, signal: AbortSignal): Promise<void> {
    const [answer] = await ask([['eth_chainId', []]], signal)
    requireChainId(answer, chainId)
  }
}

/** Throws `WrongChain`. */
function requireChainId(answer: unknown, chainId: number): void {
  const found = quantity(answer)
  if (found !== BigInt(chainId)) throw new WrongChain(`a node of chain ${found}`)
}

const RETRY_MS = 200
/** Internal error, and "too many requests" in the codes of three kinds of nodes. */
const BUSY_CODES = [-32603, -32005, -32007, 429]
const BUSY_STATUS = [403, 408, 413, 429, 500, 502, 503, 504]

function isBusy(error: unknown): boolean {
  if (error instanceof RpcError) return BUSY_CODES.includes(error.code)
  if (error instanceof HttpProblem) return BUSY_STATUS.includes(error.status)
  return error instanceof NodeProblem
}

/** Omits the node's address, which viem's long messages quote. */
function viemError({ code, details, data }: RpcError, method: string): RpcRequestError {
  return new RpcRequestError({ body: { method }, error: { code, message: details, data }, url: '' })
}

export function createEvmClient(network: EvmNetwork, rpcUrls: readonly string[], account: Account, timeoutMs?: number) {
  const { ticker, decimals } = coinOf(network)
  const viemChain = defineChain({
    id: network.chainId,
    name: network.name,
    nativeCurrency: { name: ticker, symbol: ticker, decimals },
    rpcUrls: { default: { http: rpcUrls } },
    fees: { baseFeeMultiplier: BASE_FEE_MULTIPLIER },
  })
  const { nodes } = connectEvm(network, rpcUrls, timeoutMs === undefined ? {} : { timeoutMs })
  const transport = fallback(nodes.map(transportOf), { retryCount: 1 })
  return createClient({ account, chain: viemChain, transport, cacheTime: 0 }).extend(publicActions)
}

function transportOf(node: ChainNode<EvmRpc>): Transport {
  async function request({ method, params = [] }: { method: string; params?: unknown[] }): Promise<unknown> {
    try {
      return await node.ask((rpc, signal) => rpc(method, params, signal))
    } catch (error) {
      throw error instanceof WrongChain ? new NodeProblem(`${node.name} is ${error.message}`) : error
    }
  }
  return custom({ request }, { retryCount: 0 })
}

/** Uses viem's short messages only: its long ones quote the address. */
function describe(error: unknown): string {
  if (error instanceof BaseError) return error.shortMessage
  return error instanceof Error ? error.name : 'an unreadable response'
}
