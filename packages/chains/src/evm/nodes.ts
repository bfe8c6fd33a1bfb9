// Nodes of the EVM chain: as a pool to ask, and as one viem client that takes the next node when one does not answer.

import {
  type Account,
  BaseError,
  createClient,
  custom,
  defineChain,
  fallback,
  HttpRequestError,
  http,
  publicActions,
  type Transport,
} from 'viem'
import {
  type ChainNode,
  createNodePool,
  type NodePool,
  NodeProblem,
  type PoolOptions,
  WrongChain,
} from '../node-pool.ts'
import { quantity } from './rpc-answers.ts'

export interface EvmChain {
  chainId: number
  name: string
}

/** One JSON-RPC call; nothing of its answer has been checked. */
export type EvmRpc = (method: string, params: unknown[], signal: AbortSignal) => Promise<unknown>

type AnyCall = { Method: string; Parameters: unknown[]; ReturnType: unknown }

interface EvmPoolOptions extends Partial<PoolOptions> {
  /** How often a node is asked again that is busy or cannot be reached. */
  retryCount?: number
}

const TIMEOUT_MS = 5_000
/** Only what a block asks is paid; with less, a transaction would wait as soon as the chain gets busier. */
const BASE_FEE_MULTIPLIER = 2

export function connectEvm(
  { chainId }: Pick<EvmChain, 'chainId'>,
  rpcUrls: readonly string[],
  { retryCount = 0, timeoutMs = TIMEOUT_MS, quorum = 1 }: EvmPoolOptions = {},
): NodePool<EvmRpc> {
  const nodes = rpcUrls.map((url) => ({ url, client: connectNode(url), requireChain, describe }))
  return createNodePool('EVM chain', nodes, { timeoutMs, quorum })

  function connectNode(url: string): EvmRpc {
    // The pool has a deadline; viem's would not cover the body of an answer.
    const client = createClient({ transport: http(url, { retryCount, timeout: 0 }) })
    return (method, params, signal) => client.request<AnyCall>({ method, params }, { signal })
  }

  async function requireChain(rpc: EvmRpc, signal: AbortSignal): Promise<void> {
    const found = quantity(await rpc('eth_chainId', [], signal))
    if (found !== BigInt(chainId)) throw new WrongChain(`a node of chain ${found}`)
  }
}

export function createEvmClient(chain: EvmChain, rpcUrls: readonly string[], account: Account, timeoutMs?: number) {
  const viemChain = defineChain({
    id: chain.chainId,
    name: chain.name,
    nativeCurrency: { name: 'MON', symbol: 'MON', decimals: 18 },
    rpcUrls: { default: { http: rpcUrls } },
    fees: { baseFeeMultiplier: BASE_FEE_MULTIPLIER },
  })
  const { nodes } = connectEvm(chain, rpcUrls, timeoutMs === undefined ? {} : { timeoutMs })
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

/** viem's short messages only: its long ones quote the address. */
function describe(error: unknown): string {
  if (error instanceof HttpRequestError && error.status !== undefined) return `HTTP ${error.status}`
  if (error instanceof BaseError) return error.shortMessage
  return error instanceof Error ? error.name : 'no answer that can be read'
}
