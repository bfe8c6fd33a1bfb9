import { limit } from '@svc/concurrency/locks'
import type { Hash } from 'viem'
import { RPC_CODES, RpcError } from '../rpc-error.ts'
import { createBlockClock, seconds } from './block-clock.ts'
import type { Engine } from './engine.ts'
import { faucetTransaction } from './faucet.ts'
import { createGenesis } from './genesis.ts'
import { type Entry, openJournal } from './journal.ts'
import { CALLS, CHANGES, REFUSED, resolveTags } from './methods.ts'

/** Takes the request object of EIP-1193, so `viem.custom(chain)` uses it without HTTP. */
export type EvmChain = {
  /** Seconds. */
  genesisTime: number
  /** Once the blocks of the journal are there again; requests wait for it. Rejects when they cannot be made. */
  replayed: Promise<void>
  request(request: { method: string; params?: readonly unknown[] }): Promise<unknown>
  close(): Promise<void>
}

export type ChainOptions = {
  /** File that keeps the chain between starts; without it the chain is in memory only. */
  stateFile?: string
  /** Unix milliseconds, for block timestamps. */
  now?: () => number
  /** How many blocks `finalized` is below the head. */
  finalityDepth?: number
}

type Head = { number: number; hash: Hash; time: number }

export async function openChain({ stateFile, now = Date.now, finalityDepth = 0 }: ChainOptions): Promise<EvmChain> {
  const journal = stateFile === undefined ? undefined : openJournal(stateFile, seconds(now()))
  const genesisTime = journal?.genesisTime ?? seconds(now())
  const engine = await createGenesis(genesisTime)
  let head = await readHead(engine)
  let isClosed = false
  const replayed = replay(journal?.past ?? []).catch((error: unknown) => {
    journal?.close()
    isClosed = true
    throw error
  })
  // Whoever asks for it gets the error.
  replayed.catch(() => {})

  const clock = createBlockClock(now)
  // The journal's order is the chain's.
  const oneAtATime = limit(1)
  return {
    genesisTime,
    replayed,
    async request({ method, params = [] }) {
      await replayed
      // Closing ends the replay early: a change on those blocks would make the journal useless.
      if (isClosed) throw new RpcError(RPC_CODES.internalError, 'the chain is stopped')
      if (method === 'dev_faucet') return change('eth_sendTransaction', [faucetTransaction(params)])
      if (method === 'evm_increaseTime') return clock.increase(params)
      if (method === 'evm_setNextBlockTimestamp') return pinTime(params)
      const instead = REFUSED.get(method)
      if (instead)
        throw new RpcError(RPC_CODES.methodNotSupported, `Method ${method} is not supported here: ${instead}`)
      if (CHANGES.has(method)) return change(method, params)
      if (CALLS.has(method)) return call(method, params)
      return engine.request(method, resolveTags(params, head.number, finalityDepth))
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await replayed
      await oneAtATime(async () => journal?.close())
    },
  }

  async function replay(past: readonly Entry[]): Promise<void> {
    for (const [index, { method, params, time, head: parent }] of past.entries()) {
      if (isClosed) return
      if (parent !== head.hash) {
        const where = `${stateFile}, line ${index + 2}`
        throw new Error(`${where}, was written on other blocks than this version makes: move the file away.`)
      }
      // A request that failed before fails again, and changes nothing.
      await execute(method, params, time).catch(() => undefined)
    }
  }

  function change(method: string, params: readonly unknown[]): Promise<unknown> {
    return oneAtATime(async () => {
      const time = clock.next(head.time)
      const { hash } = head
      journal?.append({ method, params, time, head: hash })
      const result = await execute(method, params, time)
      if (head.hash !== hash) clock.unpin()
      return result
    })
  }

  async function execute(method: string, params: readonly unknown[], time: number): Promise<unknown> {
    await engine.request('evm_setNextBlockTimestamp', [time])
    const result = await engine.request(method, params)
    head = await readHead(engine)
    return result
  }

  /**
   * EDR runs a call on `latest` at the time of the newest block, which may be hours old on a quiet chain. Real chains
   * make blocks all the time, and authorizations depend on the time: so the call runs in the pending block.
   */
  function call(method: string, [transaction, tag = 'latest', ...rest]: readonly unknown[]): Promise<unknown> {
    return oneAtATime(async () => {
      const isNow = tag === 'latest' && (await engine.request('hardhat_getAutomine'))
      if (isNow) await engine.request('evm_setNextBlockTimestamp', [clock.next(head.time)])
      const params = [transaction, isNow ? 'pending' : tag, ...rest]
      return engine.request(method, resolveTags(params, head.number, finalityDepth))
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

async function readHead(engine: Engine): Promise<Head> {
  const block = (await engine.request('eth_getBlockByNumber', ['latest', false])) as Record<
    'number' | 'hash' | 'timestamp',
    Hash
  >
  return { number: Number(block.number), hash: block.hash, time: Number(block.timestamp) }
}
