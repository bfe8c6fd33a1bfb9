import { numberToHex } from 'viem'
import type { NodeFaults } from '../node-faults.ts'
import { RPC_CODES, RpcError } from '../rpc-error.ts'
import type { EvmChain } from './chain.ts'
import { resolveTags } from './methods.ts'

type Placed = { blockNumber?: string | null; number?: string | null }
type Filter = { fromBlock?: string; toBlock?: string }

/** Methods whose answer describes one block, or a transaction in it. */
const PLACED = /^eth_(?:getTransactionReceipt|getTransactionByHash|getBlockBy(?:Number|Hash))$/

/** Methods that a node on a fork answers from that fork. */
const READS = /^eth_(?:get|call|blockNumber)/

/** Answers requests like a node that is behind, on a fork, pruned, or limited in the blocks that it searches. */
export function nodeOf(chain: EvmChain, faults: () => NodeFaults): Pick<EvmChain, 'request'> {
  const { depth } = chain
  return {
    async request({ method, params = [] }) {
      if (faults().isOnFork && READS.test(method)) return chain.requestOnFork({ method, params })
      const { behind = 0, keeps = Number.POSITIVE_INFINITY, logBlocks = Number.POSITIVE_INFINITY } = faults()
      const head = Math.max(0, chain.height() - behind)
      const first = Math.max(0, head - keeps + 1)
      if (behind > 0 && method === 'eth_blockNumber') {
        await chain.request({ method })
        return numberToHex(head)
      }
      const asked = behind === 0 ? params : resolveTags(params, head, depth, true)
      if (method === 'eth_getLogs')
        requireBlocks((asked[0] ?? {}) as Filter, { first, logBlocks, head: chain.height() })
      const answer = await chain.request({ method, params: asked })
      if (!PLACED.test(method) || answer === null) return answer
      const { blockNumber, number } = answer as Placed
      const height = blockNumber ?? number
      // Only nodes that are not behind know a transaction in the pool.
      const isKnown = height == null ? behind === 0 : Number(height) <= head && Number(height) >= first
      return isKnown ? answer : null
    },
  }
}

function requireBlocks(
  { fromBlock, toBlock }: Filter,
  { first, logBlocks, head }: Record<'first' | 'logBlocks' | 'head', number>,
): void {
  const [from, to] = [fromBlock, toBlock].map((block) => (block?.startsWith('0x') ? Number(block) : head)) as [
    number,
    number,
  ]
  if (to - from >= logBlocks)
    throw new RpcError(RPC_CODES.limitExceeded, `eth_getLogs is limited to ${logBlocks} blocks`)
  if (from < first) throw new RpcError(RPC_CODES.prunedHistory, 'pruned history unavailable')
}
