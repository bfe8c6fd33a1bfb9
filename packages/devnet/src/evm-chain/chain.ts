import { ASSETS } from '@svc/api/assets'
import { EVM, type EvmNetwork } from '@svc/api/networks'
import { limit } from '@svc/concurrency/locks'
import { type Address, type Hash, type Hex, hexToBigInt, numberToHex } from 'viem'
import type { Landing } from '../landing.ts'
import { RPC_CODES, RpcError } from '../rpc-error.ts'
import { createBlockClock, seconds } from './block-clock.ts'
import { type Token, tokensOf } from './contracts.ts'
import type { Engine } from './engine.ts'
import { coinGrant, faucetTransaction } from './faucet.ts'
import { createGenesis } from './genesis.ts'
import { type Entry, openJournal } from './journal.ts'
import { CALLS, CHANGES, REFUSED, resolveTags, SENDS } from './methods.ts'

/** Accepts the request object of EIP-1193, so `viem.custom(chain)` uses it without HTTP. */
export type EvmChain = {
  /** Seconds. */
  genesisTime: number
  /** Resolves once the blocks of the journal are rebuilt; requests wait for it. Rejects when they cannot be rebuilt. */
  replayed: Promise<void>
  request(request: { method: string; params?: readonly unknown[] }): Promise<unknown>
  /** Like `request`, on the blocks that the last fork abandoned, which no longer change. */
  requestOnFork(request: { method: string; params?: readonly unknown[] }): Promise<unknown>
  /** Of the newest block. */
  height(): number
  /** How many blocks `finalized` is below the newest. */
  depth: number
  /** Lands all transactions that were sent, and makes them final. */
  settle(): Promise<void>
  /** Stops making blocks, except those that a test requests; `evm_setAutomine` does the same. */
  hold(): void
  /** Ends `hold`. */
  resume(): void
  /**
   * Abandons the blocks that are not final. Their transactions land again in other blocks; dropped ones must be sent
   * again.
   */
  fork(options?: { drop?: readonly string[] }): Promise<void>
  close(): Promise<void>
}

export type ChainOptions = {
  /** File that keeps the chain between starts; without it the chain is in memory only. */
  stateFile?: string
  /** Unix milliseconds, for block timestamps. */
  now?: () => number
  /** `later` by default. */
  landing?: Landing
  /** The network whose chain it is; `EVM` by default. */
  network?: EvmNetwork
  /** The tokens of the faucet; by default those of the built-in assets. */
  tokens?: readonly Token[]
}

/** How many blocks `finalized` is below the head when transactions land later, as on chain 143. */
export const FINALITY_DEPTH = 2

/** How many requests of the journal are replayed before the head is compared. */
const COMPARED_EVERY = 64

type Head = { number: number; hash: Hash; time: number }

/** A change, its result, and the number of the head after it. */
type AppliedChange = Omit<Entry, 'head'> & { result: unknown; block: number }

export async function openChain(options: ChainOptions): Promise<EvmChain> {
  const { stateFile, now = Date.now, landing = 'later', network = EVM } = options
  const { tokens = tokensOf(ASSETS, network) } = options
  const journal = stateFile === undefined ? undefined : openJournal(stateFile, seconds(now()))
  const genesisTime = journal?.genesisTime ?? seconds(now())
  const depth = landing === 'later' ? FINALITY_DEPTH : 0
  let engine = await createGenesis(network, genesisTime)
  let head = await readHead(engine)
  let isClosed = false
  /** The time at which the oldest transaction of the pool was sent, in seconds; null for an empty pool. */
  let waitingSince: number | null = null
  /** The newest block that took transactions of the pool. */
  let newestFilled = -depth
  let isHeld = false
  let isBlockDue = false
  /** The changes that made the blocks, for forks. */
  let made: AppliedChange[] = []
  let abandoned: { engine: Engine; head: Head } | null = null
  const clock = createBlockClock(now)
  // The journal's order is the chain's.
  const oneAtATime = limit(1)
  const replayed = start().catch((error: unknown) => {
    journal?.close()
    isClosed = true
    throw error
  })
  // The caller that asks for it gets the error.
  replayed.catch(() => {})

  return {
    genesisTime,
    replayed,
    async request({ method, params = [] }) {
      await replayed
      // Closing ends the replay early: a change on those blocks would make the journal useless.
      if (isClosed) throw new RpcError(RPC_CODES.internalError, 'the chain is stopped')
      if (landing === 'later') await oneAtATime(() => pass(method))
      if (method === 'dev_faucet') return oneAtATime(() => grant(params))
      if (method === 'evm_increaseTime') return clock.increase(params)
      if (method === 'evm_setNextBlockTimestamp') return pinTime(params)
      if (method === 'evm_setAutomine' && landing === 'later') {
        isHeld = params[0] === false
        return true
      }
      const instead = REFUSED.get(method)
      if (instead)
        throw new RpcError(RPC_CODES.methodNotSupported, `Method ${method} is not supported here: ${instead}`)
      if (CHANGES.has(method)) return oneAtATime(() => change(method, params))
      if (CALLS.has(method)) return call(method, params)
      return read(method, params)
    },
    async requestOnFork({ method, params = [] }) {
      return abandoned?.engine.request(method, resolveTags(params, abandoned.head.number, depth)) ?? null
    },
    height: () => head.number,
    depth,
    settle: () => oneAtATime(landAll),
    hold() {
      isHeld = true
    },
    resume() {
      isHeld = false
    },
    fork: ({ drop = [] } = {}) => oneAtATime(() => fork(drop)),
    async close() {
      if (isClosed) return
      isClosed = true
      await replayed
      await oneAtATime(async () => journal?.close())
    },
  }

  async function start(): Promise<void> {
    const past = journal?.past ?? []
    for (const [index, { method, params, time, head: parent }] of past.entries()) {
      if (isClosed) return
      // Every block names its parent, so the journal's heads need not all be compared.
      if (index % COMPARED_EVERY === 0 || index === past.length - 1) {
        head = await readHead(engine)
        if (parent !== head.hash) {
          const where = `${stateFile}, line ${index + 2} or one of the ${COMPARED_EVERY} before it`
          throw new Error(`${where}, was written on blocks that this version does not make: move the file away.`)
        }
      }
      // A request that failed before fails again, and changes nothing.
      await (landing === 'later' ? execute : perform)(method, params, time).catch(() => undefined)
    }
    head = await readHead(engine)
    if (landing === 'later') await change('evm_setAutomine', [false])
  }

  /** Moves the chain before it answers a request. */
  async function pass(method: string): Promise<void> {
    const present = clock.present(head.time)
    if (!isHeld) {
      if (waitingSince !== null && present > waitingSince) await change('evm_mine', [], waitingSince)
      if (waitingSince === null && present > head.time) await finalize()
      else if (isBlockDue && waitingSince !== null) await change('evm_mine', [])
      else if (isBlockDue && !isFinal()) await change('evm_mine', [], present)
    }
    // A client that queries a transaction right after sending it does not find it yet.
    isBlockDue = !SENDS.has(method)
  }

  function isFinal(): boolean {
    return head.number >= newestFilled + depth
  }

  async function finalize(): Promise<void> {
    while (!isFinal()) await change('evm_mine', [], clock.present(head.time))
  }

  async function landAll(): Promise<void> {
    if (waitingSince !== null) await change('evm_mine', [])
    await finalize()
  }

  /** Removes the newest blocks; one without transactions replaces them. */
  async function fork(drop: readonly unknown[]): Promise<void> {
    if (journal || landing === 'at once')
      throw new Error('Only a chain in memory that lands transactions later can fork')
    const target = Math.max(1, head.number - depth)
    const first = made.findIndex(({ block }) => block > target)
    const kept = made.slice(0, first === -1 ? made.length : first)
    const sentAfter = kept.findLastIndex(({ method }) => !SENDS.has(method)) + 1
    const left = [...kept.splice(sentAfter), ...(first === -1 ? [] : made.slice(first))]
    abandoned = { engine, head }
    engine = await createGenesis(network, genesisTime)
    head = await readHead(engine)
    made = []
    waitingSince = null
    newestFilled = -depth
    for (const { method, params, time } of kept) await execute(method, params, time)
    const present = clock.present(head.time)
    await execute('evm_mine', [], present)
    for (const { method, params, result } of left)
      if (!method.endsWith('_mine') && !drop.includes(result)) await execute(method, params, present)
    isBlockDue = false
  }

  async function grant(params: readonly unknown[]): Promise<unknown> {
    const hash = await change('eth_sendTransaction', [faucetTransaction(params, [coinGrant(network), ...tokens])])
    if (landing === 'later') await change('evm_mine', [])
    return hash
  }

  /** A given time takes precedence over the pinned one. */
  async function change(method: string, params: readonly unknown[], given?: number): Promise<unknown> {
    const time = given ?? clock.next(head.time)
    const { hash } = head
    journal?.append({ method, params, time, head: hash })
    const result = await execute(method, params, time)
    if (head.hash !== hash && given === undefined) clock.unpin()
    return result
  }

  async function perform(method: string, params: readonly unknown[], time: number): Promise<unknown> {
    await engine.request('evm_setNextBlockTimestamp', [time])
    return engine.request(method, params)
  }

  async function execute(method: string, params: readonly unknown[], time: number): Promise<unknown> {
    const result = await perform(method, params, time)
    const { number } = head
    head = await readHead(engine)
    if (landing === 'at once') return result
    if (!journal) made.push({ method, params, time, result, block: head.number })
    if (SENDS.has(method)) waitingSince ??= time
    else if (head.number !== number && waitingSince !== null) await fill(number + 1)
    return result
  }

  /** Accounts for pool transactions in a new block. Chain 143 charges the gas limit, not the gas used. */
  async function fill(number: number): Promise<void> {
    const { transactions } = (await engine.request('eth_getBlockByNumber', [numberToHex(number), true])) as Block
    // Transactions may wait for others of their account.
    if (transactions.length > 0) newestFilled = number
    for (const { hash, from, gas } of transactions) {
      const { gasUsed, effectiveGasPrice } = (await engine.request('eth_getTransactionReceipt', [hash])) as Receipt
      const unused = (BigInt(gas) - BigInt(gasUsed)) * BigInt(effectiveGasPrice)
      const balance = hexToBigInt((await engine.request('eth_getBalance', [from])) as Hex)
      if (unused > 0n) await engine.request('hardhat_setBalance', [from, numberToHex(balance - unused)])
    }
    const left = (await engine.request('eth_pendingTransactions')) as unknown[]
    waitingSince = left.length === 0 ? null : head.time
  }

  async function read(method: string, params: readonly unknown[]): Promise<unknown> {
    const answer = await engine.request(method, resolveTags(params, head.number, depth))
    if (method !== 'eth_getTransactionReceipt' || answer === null || landing === 'at once') return answer
    const { gas } = (await engine.request('eth_getTransactionByHash', params)) as Transaction
    return { ...(answer as Receipt), gasUsed: gas }
  }

  /**
   * EDR runs a call on `latest` at the time of the newest block, which may be hours old on a quiet chain. Real chains
   * make blocks all the time, and authorizations depend on the time: so the call runs in the pending block, as long as
   * that has no transactions.
   */
  function call(method: string, [transaction, tag = 'latest', ...rest]: readonly unknown[]): Promise<unknown> {
    return oneAtATime(async () => {
      const isEmpty = landing === 'later' ? waitingSince === null : await engine.request('hardhat_getAutomine')
      const isNow = tag === 'latest' && isEmpty
      if (isNow) await engine.request('evm_setNextBlockTimestamp', [clock.next(head.time)])
      const params = [transaction, isNow ? 'pending' : tag, ...rest]
      return engine.request(method, resolveTags(params, head.number, depth))
    })
  }

  function pinTime(params: readonly unknown[]): Promise<unknown> {
    return oneAtATime(async () => {
      const result = await engine.request('evm_setNextBlockTimestamp', params)
      clock.pin(Number(params[0]))
      return result
    })
  }
}

type Transaction = { hash: Hash; from: Address; gas: Hex }
type Block = { transactions: readonly Transaction[] }
type Receipt = { gasUsed: Hex; effectiveGasPrice: Hex }

async function readHead(engine: Engine): Promise<Head> {
  const block = (await engine.request('eth_getBlockByNumber', ['latest', false])) as Record<
    'number' | 'hash' | 'timestamp',
    Hash
  >
  return { number: Number(block.number), hash: block.hash, time: Number(block.timestamp) }
}
