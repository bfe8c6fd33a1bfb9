import type { EvmNetwork } from '@svc/api/networks'
import { type Costs, createEvmAccount, type SignedTransaction } from '@svc/payments/evm/account'
import { TRANSFER } from '@svc/payments/evm/arrival'
import { AUTHORIZATION_CANCELED, AUTHORIZATION_USED, type Authorization } from '@svc/payments/evm/authorizations'
import { EvmError, Reverted, toEvmError } from '@svc/payments/evm/errors'
import { connectEvm, connectEvmBatches, type EvmRpc } from '@svc/payments/evm/nodes'
import { type FoundLog, quantity, readBlock, readFoundLogs } from '@svc/payments/evm/rpc-answers'
import type { ChainNodes } from '@svc/payments/family'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { type Address, encodeFunctionData, type Hex, numberToHex, padHex, parseAbi, parseTransaction } from 'viem'
import { Refused, type SettlementOutcome } from './settler.ts'

const ABI = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address owner) view returns (uint256)',
])

/** The code of an account that delegates to a contract but still has its key begins with this (EIP-7702). */
const DELEGATED = '0xef0100'
/** Public nodes limit a log query to this many blocks. */
const LOG_BLOCKS = 100
const MAX_LOG_QUERIES = 50
/** Several times the cost of a plain account's transfer. */
const MAX_GAS = 300_000n

type Read = { address: Address; abi: readonly unknown[]; functionName: string; args?: readonly unknown[] }
type Write = { to: Address; data: Hex }
type Paid = { from: string; to: string; amount: bigint }
export type EvmChain = ReturnType<typeof createEvmChain>

/** The queries and transactions of the EVM settler, whose account pays the network fees. Throws `Refused`. */
export function createEvmChain(network: EvmNetwork, { rpcUrls, quorum }: ChainNodes, key: Uint8Array) {
  const account = createEvmAccount(network, rpcUrls, key)
  const { client } = account
  // A quorum decides whether a payment was made; preparing a new one needs only one node.
  const pool = connectEvm(network, rpcUrls, { quorum })
  const batches = connectEvmBatches(network, rpcUrls, { quorum })

  /** The newest final block, and its time in Unix seconds. */
  async function finalized(): Promise<{ height: number; time: number }> {
    const block = async (rpc: EvmRpc, which: string, signal: AbortSignal) =>
      readBlock(await rpc('eth_getBlockByNumber', [which, false], signal))
    const height = await pool.highest(async (rpc, signal) => Number((await block(rpc, 'finalized', signal)).number))
    const time = await pool.agree(async (rpc, signal) => (await block(rpc, numberToHex(height), signal)).timestamp)
    return { height, time }
  }

  /** Whether a block is older than a time in Unix seconds. Blocks that all nodes have pruned are. */
  function blockBefore(height: number, time: number): Promise<{ isBefore: boolean; isForgotten: boolean }> {
    return batches.first(
      async (ask, signal) => {
        const [head, block] = await ask(
          [
            ['eth_blockNumber', []],
            ['eth_getBlockByNumber', [numberToHex(height), false]],
          ],
          signal,
        )
        const isForgotten = block === null && quantity(head) >= BigInt(height)
        return { isForgotten, isBefore: isForgotten || readBlock(block).timestamp < time }
      },
      ({ isForgotten }) => !isForgotten,
    )
  }

  /** Queries nodes that have all of these blocks: a lagging or pruned node would find nothing. */
  function findLogs(filter: { address: string; topics: unknown[] }, from: number, to: number): Promise<FoundLog[]> {
    const blocks = { fromBlock: numberToHex(from), toBlock: numberToHex(to) }
    return batches.agree(
      async (ask, signal) => {
        const [logs, first, last] = await ask(
          [
            ['eth_getLogs', [{ ...filter, ...blocks }]],
            ['eth_getBlockByNumber', [blocks.fromBlock, false]],
            ['eth_getBlockByNumber', [blocks.toBlock, false]],
          ],
          signal,
        )
        readBlock(first)
        readBlock(last)
        return readFoundLogs(logs)
      },
      (found) => found.length === 0,
    )
  }

  return {
    address: account.address,

    /** Throws `Reverted` when the contract reverts. */
    async readContract(read: Read): Promise<unknown> {
      try {
        return await client.readContract(read as Parameters<typeof client.readContract>[0])
      } catch (error) {
        const known = toEvmError(error)
        throw known instanceof Reverted ? known : refused(known)
      }
    },

    /** A contract cannot be the payer: it has no key to sign for its locker. */
    async code(address: Address, payer: string): Promise<Hex | undefined> {
      const code = await client.getCode({ address }).catch(rejectAsRefused)
      const isContract = code !== undefined && !code.startsWith(DELEGATED)
      if (isContract && address.toLowerCase() === payer.toLowerCase())
        throw new Refused({ why: 'invalid', reason: 'payer_is_a_contract' })
      return code
    },

    /** A payer with its own code could make the transfer arbitrarily expensive for the gateway. */
    async costs(write: Write): Promise<Costs> {
      const costs = await account.costs(write).catch(rejectAsRefused)
      if (costs.gas > MAX_GAS) throw new Refused({ why: 'invalid', reason: 'too_much_gas' })
      return costs
    },
    sign: (write: Write & Costs): Promise<SignedTransaction> => account.sign(write).catch(rejectAsRefused),
    send: account.send,

    async canStillLand(raw: Hex): Promise<boolean> {
      const { nonce = 0 } = parseTransaction(raw)
      const params = [account.address, 'finalized']
      const isTaken = pool.agree(
        async (rpc, signal) => quantity(await rpc('eth_getTransactionCount', params, signal)) > BigInt(nonce),
      )
      return !(await isTaken.catch(rejectAsRefused))
    },

    /** Reads a contract that is known to be a token. */
    async balance(token: string, owner: string): Promise<bigint> {
      const args = [owner as Address] as const
      const read = client.readContract({ address: token as Address, abi: ABI, functionName: 'balanceOf', args })
      return read.catch(rejectAsRefused)
    },

    finalized: () => finalized().catch(rejectAsRefused),

    height: async (): Promise<number> => Number(await client.getBlockNumber().catch(rejectAsRefused)),

    /** The newest height at a time in Unix seconds, or slightly below it. */
    async heightAt(time: number): Promise<number> {
      let [low, high] = [0, Number(await client.getBlockNumber().catch(rejectAsRefused))]
      while (high - low > LOG_BLOCKS) {
        const middle = Math.floor((low + high) / 2)
        const { isBefore } = await blockBefore(middle, time).catch(rejectAsRefused)
        if (isBefore) low = middle
        else high = middle
      }
      return low
    },

    /** As of a block, or of the newest one. */
    isUsed(token: string, { from, nonce }: Authorization, height?: number): Promise<boolean> {
      const args = [from as Address, nonce as Hex] as const
      const data = encodeFunctionData({ abi: ABI, functionName: 'authorizationState', args })
      const block = height === undefined ? 'latest' : numberToHex(height)
      return pool
        .agree(
          async (rpc, signal) => quantity(await rpc('eth_call', [{ to: token, data }, block], signal)) !== 0n,
          (isUsed) => !isUsed,
        )
        .catch(rejectAsRefused)
    },

    /** Transactions in which an account has paid another at least this amount in one transfer. */
    async transfers(token: string, { from, to, amount }: Paid, since: number): Promise<string[]> {
      const accounts = [from, to].map((account) => padHex(account as Address, { size: 32 }))
      const filter = { address: token, topics: [TRANSFER, ...accounts] }
      const last = Number(await client.getBlockNumber().catch(rejectAsRefused))
      const found: FoundLog[] = []
      for (let block = since, queries = 0; block <= last && queries < MAX_LOG_QUERIES; block += LOG_BLOCKS, queries++) {
        const end = Math.min(block + LOG_BLOCKS - 1, last)
        found.push(...(await findLogs(filter, block, end).catch(rejectAsRefused)))
      }
      const paid = found.filter(({ data }) => data.length === 66 && BigInt(data) >= amount)
      return [...new Set(paid.map(({ tx }) => tx))]
    },

    /**
     * The status of a used authorization. An authorization is public once it is sent, so anyone may have used it in
     * their own transaction. It counts as cancelled only if a final block contains the cancellation. The next search
     * resumes a long or interrupted one.
     */
    async findUse(token: string, { from, nonce }: Authorization, since: number): Promise<SettlementOutcome> {
      const events = [AUTHORIZATION_USED, AUTHORIZATION_CANCELED]
      const filter = { address: token, topics: [events, padHex(from as Address, { size: 32 }), nonce] }
      const final = (await finalized().catch(rejectAsRefused)).height
      let fromBlock = Math.max(0, since - LOG_BLOCKS)
      try {
        const last = await pool.highest(async (rpc, signal) =>
          Number(quantity(await rpc('eth_blockNumber', [], signal))),
        )
        for (let queries = 0; queries < MAX_LOG_QUERIES && fromBlock <= last; queries++) {
          const toBlock = Math.min(fromBlock + LOG_BLOCKS - 1, last)
          const [log] = await findLogs(filter, fromBlock, toBlock)
          if (log?.event === AUTHORIZATION_USED) return { outcome: 'landed', tx: log.tx }
          if (log) return { outcome: log.height <= final ? 'expired' : 'pending' }
          fromBlock = toBlock + 1
        }
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) rejectAsRefused(error)
      }
      // A later block may still be replaced by one that contains the event.
      return { outcome: 'searching', searchedTo: Math.min(fromBlock, final + 1) }
    },
  }
}

function rejectAsRefused(error: unknown): never {
  if (error instanceof ChainUnavailable) throw new Refused({ why: 'unavailable', problem: error.message })
  throw refused(toEvmError(error))
}

/** A contract that reverts a read counts as a node that does not respond. */
function refused(error: EvmError | Reverted): Refused {
  const isUnfunded = error instanceof EvmError && error.why === 'unfunded'
  return new Refused(isUnfunded ? { why: 'unfunded' } : { why: 'unavailable', problem: error.message })
}
