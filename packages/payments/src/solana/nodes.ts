// Queries to nodes of the primary chain. Types do not bind nodes: every required field of an answer is checked.

import {
  type Address,
  assertIsBlockhash,
  type Base64EncodedWireTransaction,
  type Blockhash,
  createSolanaRpcFromTransport,
  type DataSlice,
  isSolanaError,
  type RpcResponse,
  type RpcTransport,
  type Signature,
} from '@solana/kit'
import { answerTo, connectJsonRpc, createPostJson, type JsonRpc, parseJson } from '../nodes/json-rpc.ts'
import {
  ChainUnavailable,
  createNodePool,
  type NodePool,
  NodeProblem,
  type PoolOptions,
  WrongChain,
} from '../nodes/node-pool.ts'

export interface SolanaChain {
  genesisHash: string
}

export type SolanaRpc = ReturnType<typeof connectNode>

export interface Lifetime {
  blockhash: Blockhash
  lastValidBlockHeight: bigint
}

/** A transaction, and the heights of the blocks that may contain it; without them, no node can rule it out. */
export interface Target {
  tx: string
  /** By default, as many blocks below the last as a blockhash is valid for. */
  first_height?: number
  last_valid_height?: number
}

/** What one node knows about a transaction. */
export interface Sighting {
  /** All blocks that may contain it are final, and the node has them all. */
  isPast: boolean
  status: { slot: number; commitment: 'confirmed' | 'finalized'; error: string | null } | null
}

export interface Costs {
  slot: number
  blockTime: number | null
  feeLamports: number
  rentLamports: number
}

export interface HistoryEntry {
  tx: string
  /** The node's form: all memos of the transaction, each after its length. */
  memo: string | null
  hasFailed: boolean
}

export interface AccountOnChain {
  owner: string
  data: Uint8Array
}

const TIMEOUT_MS = 10_000
/** How many blocks a transaction is valid for after its blockhash. */
const MAX_AGE_IN_BLOCKS = 150
const CONFIRMED = { commitment: 'confirmed', encoding: 'base64' } as const

export function connectSolana(
  chain: SolanaChain,
  rpcUrls: readonly string[],
  options: Partial<PoolOptions> = {},
): NodePool<SolanaRpc> {
  const readGenesisHash = (rpc: SolanaRpc, abortSignal: AbortSignal) => rpc.getGenesisHash().send({ abortSignal })
  return connect(chain, rpcUrls, options, { connectNode, readGenesisHash })
}

/** Like `connectSolana`, with unchanged answers: the library copies each of them twice, to make all numbers bigints. */
export function connectSolanaUnread(
  chain: SolanaChain,
  rpcUrls: readonly string[],
  options: Partial<PoolOptions> = {},
): NodePool<JsonRpc> {
  const readGenesisHash = (rpc: JsonRpc, signal: AbortSignal) => rpc('getGenesisHash', [], signal)
  return connect(chain, rpcUrls, options, { connectNode: connectJsonRpc, readGenesisHash })
}

interface NodeAccess<Client> {
  connectNode(url: string): Client
  readGenesisHash(client: Client, signal: AbortSignal): Promise<unknown>
}

function connect<Client>(
  { genesisHash }: SolanaChain,
  rpcUrls: readonly string[],
  { timeoutMs = TIMEOUT_MS, quorum = 1 }: Partial<PoolOptions>,
  { connectNode, readGenesisHash }: NodeAccess<Client>,
): NodePool<Client> {
  const nodes = rpcUrls.map((url) => ({ url, client: connectNode(url), requireChain, describe }))
  return createNodePool('primary chain', nodes, { timeoutMs, quorum })

  async function requireChain(client: Client, signal: AbortSignal): Promise<void> {
    if ((await readGenesisHash(client, signal)) !== genesisHash) throw new WrongChain('a node of another chain')
  }
}

function connectNode(url: string) {
  const post = createPostJson(url)
  const transport: RpcTransport = async <Answer>({ payload, signal = NEVER }: Parameters<RpcTransport>[0]) => {
    const question = payload as { id: unknown; method: string } // made by the library
    const answer = parseJson(await post(JSON.stringify(question, plainNumber), signal, question.method))
    return answerTo(question, answer) as RpcResponse<Answer> // the library checks it no further
  }
  return createSolanaRpcFromTransport(transport)
}

/** Slots and heights, which the library reads as bigints, are far below the limit of a double. */
function plainNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

const NEVER = new AbortController().signal

export type SolanaNodes = ReturnType<typeof createSolanaNodes>

/** The queries that sending transactions needs. All but `send` and `sightings` throw `ChainUnavailable`. */
export function createSolanaNodes(chain: SolanaChain, rpcUrls: readonly string[], options?: Partial<PoolOptions>) {
  const pool = connectSolana(chain, rpcUrls, options)

  return {
    /** How many nodes must agree on the outcome of a transaction. */
    quorum: options?.quorum ?? 1,

    lifetime: (): Promise<Lifetime & { slot: bigint }> =>
      pool.first(async (rpc, abortSignal) => {
        const { context, value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send({ abortSignal })
        assertIsBlockhash(value.blockhash)
        wholeNumber(value.lastValidBlockHeight)
        wholeNumber(context.slot)
        return { ...value, slot: context.slot }
      }),

    /**
     * Why a transaction would fail, as JSON text; null when it would not. One node that would accept it is enough: it
     * may be ahead of the others.
     */
    simulate: (raw: string, { sigVerify }: { sigVerify: boolean }): Promise<string | null> =>
      pool.first(
        async (rpc, abortSignal) => {
          const { value } = await rpc
            .simulateTransaction(raw as Base64EncodedWireTransaction, { ...CONFIRMED, sigVerify })
            .send({ abortSignal })
          if (value.err === undefined) throw invalidResponse()
          return value.err === null ? null : errorText(value.err)
        },
        (error) => error === null,
      ),

    /** Sends to all nodes, until one has accepted it. Acceptance proves nothing: only the chain shows the outcome. */
    async send(raw: string): Promise<void> {
      const options = { encoding: 'base64', skipPreflight: true } as const
      const sent = pool.first((rpc, abortSignal) =>
        rpc.sendTransaction(raw as Base64EncodedWireTransaction, options).send({ abortSignal }),
      )
      await sent.catch(() => {})
    },

    /** For each transaction, the reports of all nodes that answer in time; empty when none does. */
    async sightings(targets: readonly Target[]): Promise<Sighting[][]> {
      const txs = targets.map(({ tx }) => tx as Signature)
      const answers = await pool.all(async (rpc, abortSignal) => {
        // Read before the status: the status then covers all blocks up to it.
        const finalized = await rpc.getEpochInfo({ commitment: 'finalized' }).send({ abortSignal })
        const finalizedHeight = wholeNumber(finalized.blockHeight)
        const { context, value } = await rpc
          .getSignatureStatuses(txs, { searchTransactionHistory: true })
          .send({ abortSignal })
        if (value.length !== txs.length) throw invalidResponse()
        // One address may be several machines: one that is behind must not report that a transaction is missing.
        const isBehind = wholeNumber(context.slot) < wholeNumber(finalized.absoluteSlot)
        const isOver = ({ last_valid_height = Number.POSITIVE_INFINITY }: Target) => finalizedHeight > last_valid_height
        const isMissing = targets.some((one, i) => value[i] === null && isOver(one))
        const oldest = isMissing && !isBehind ? await oldestHeight(rpc, abortSignal) : Number.POSITIVE_INFINITY
        return value.map((status, i): Sighting => {
          const one = targets[i] as Target // one for each
          const { last_valid_height = 0, first_height = last_valid_height - MAX_AGE_IN_BLOCKS } = one
          return { isPast: isOver(one) && oldest <= Math.max(0, first_height), status: sightedStatus(status) }
        })
      })
      return txs.map((_, i) => answers.flatMap((ofNode) => ofNode[i] ?? []))
    },

    costs: (tx: string): Promise<Costs> =>
      pool.agree(async (rpc, abortSignal) => {
        const found = await rpc
          .getTransaction(tx as Signature, { ...CONFIRMED, maxSupportedTransactionVersion: 0 })
          .send({ abortSignal })
        if (!found?.meta) throw new NodeProblem('a node that does not know the transaction yet')
        const { fee, preBalances, postBalances } = found.meta
        const spent = preBalances[0]! - postBalances[0]! // by the fee payer
        return {
          slot: wholeNumber(found.slot),
          blockTime: found.blockTime === null ? null : wholeNumber(found.blockTime),
          feeLamports: wholeNumber(fee),
          rentLamports: wholeNumber(spent - fee),
        }
      }),

    /** Transactions that name an address, the newest first, from the node that knows most of them. */
    async history(address: string, { before, limit }: { before?: string; limit: number }): Promise<HistoryEntry[]> {
      const answers = await pool.all(async (rpc, abortSignal) => {
        const options = { commitment: 'confirmed', limit, ...(before !== undefined && { before: before as Signature }) }
        const found = await rpc
          .getSignaturesForAddress(address as Address, options as { limit: number })
          .send({ abortSignal })
        return found.map(historyEntry)
      })
      const [first, ...others] = answers
      if (!first) throw new ChainUnavailable('no node of the primary chain answers')
      return others.reduce((longest, answer) => (answer.length > longest.length ? answer : longest), first)
    },

    /** A transaction as it was signed; null when no node has it. */
    wire: (tx: string): Promise<Uint8Array | null> =>
      pool.first(
        async (rpc, abortSignal) => {
          const found = await rpc
            .getTransaction(tx as Signature, { ...CONFIRMED, maxSupportedTransactionVersion: 0 })
            .send({ abortSignal })
          return found === null ? null : Buffer.from(text(found.transaction[0]), 'base64')
        },
        (found) => found !== null,
      ),

    /** Null when there is none. */
    account: (address: string, dataSlice?: DataSlice): Promise<AccountOnChain | null> =>
      pool.agree(async (rpc, abortSignal) => {
        const options = { ...CONFIRMED, ...(dataSlice && { dataSlice }) }
        const { value } = await rpc.getAccountInfo(address as Address, options).send({ abortSignal })
        if (value === null) return null
        return { owner: text(value.owner), data: Buffer.from(text(value.data[0]), 'base64') }
      }),

    balance: (address: string): Promise<bigint> =>
      pool.first(async (rpc, abortSignal) => {
        const { value } = await rpc.getBalance(address as Address, { commitment: 'confirmed' }).send({ abortSignal })
        wholeNumber(value)
        return value
      }),

    height: (): Promise<number> =>
      pool.highest(async (rpc, abortSignal) =>
        wholeNumber(await rpc.getBlockHeight({ commitment: 'confirmed' }).send({ abortSignal })),
      ),
  }
}

/**
 * The height of the oldest block that a node has; earlier blocks were pruned. Infinite when the node does not report
 * it.
 */
async function oldestHeight(rpc: SolanaRpc, abortSignal: AbortSignal): Promise<number> {
  try {
    const slot = await rpc.getFirstAvailableBlock().send({ abortSignal })
    const options = { transactionDetails: 'none', rewards: false, maxSupportedTransactionVersion: 0 } as const
    const block = await rpc.getBlock(slot, options).send({ abortSignal })
    return wholeNumber(block?.blockHeight)
  } catch {
    // The node may have pruned that block, too, in the meantime.
    return Number.POSITIVE_INFINITY
  }
}

interface SignatureStatus {
  slot: bigint
  confirmationStatus: string | null
  err: unknown
}

/** A transaction that a node has only processed may still vanish: it counts as missing. */
function sightedStatus(status: SignatureStatus | null): Sighting['status'] {
  if (status === null || status.confirmationStatus === 'processed') return null
  const { confirmationStatus: commitment, err } = status
  if ((commitment !== 'confirmed' && commitment !== 'finalized') || err === undefined) throw invalidResponse()
  return { slot: wholeNumber(status.slot), commitment, error: err === null ? null : errorText(err) }
}

interface FoundSignature {
  signature: unknown
  memo: unknown
  err: unknown
}

function historyEntry({ signature, memo, err }: FoundSignature): HistoryEntry {
  if (err === undefined) throw invalidResponse()
  return { tx: text(signature), memo: memo == null ? null : text(memo), hasFailed: err !== null }
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw invalidResponse()
  return value
}

function wholeNumber(value: unknown): number {
  if (typeof value !== 'bigint') throw invalidResponse()
  return Number(value)
}

function invalidResponse(): NodeProblem {
  return new NodeProblem('an invalid response')
}

function errorText(error: unknown): string {
  return JSON.stringify(error, (_, value) => (typeof value === 'bigint' ? Number(value) : value))
}

function describe(error: unknown): string {
  if (isSolanaError(error)) return `error ${error.context.__code}`
  // Any other error may quote the address of the request.
  return error instanceof Error ? error.name : 'an unreadable response'
}
