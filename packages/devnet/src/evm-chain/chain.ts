import type { Hash } from 'viem'
import { createBlockClock, seconds } from './block-clock.ts'
import { resolveTags } from './block-tags.ts'
import { createEngine, type Engine } from './engine.ts'
import { faucetTransaction } from './faucet.ts'
import { fundPayers } from './genesis.ts'
import { type Entry, openJournal } from './journal.ts'
import { CALLS, CHANGES, REFUSED } from './methods.ts'
import { methodNotSupported } from './rpc-error.ts'

/** Takes the request object of EIP-1193, so `viem.custom(chain)` speaks to it without HTTP. */
export type EvmChain = {
  request(request: { method: string; params?: readonly unknown[] }): Promise<unknown>
  close(): Promise<void>
}

export type ChainOptions = {
  /** Where the chain is kept between starts; without it, in memory only. */
  stateFile?: string
  /** Milliseconds, for block timestamps. */
  now?: () => number
  /** How many blocks `finalized` lies below the head. */
  finalityDepth?: number
}

type Head = { number: number; hash: Hash; time: number }

export async function openChain({ stateFile, now = Date.now, finalityDepth = 0 }: ChainOptions): Promise<EvmChain> {
  const journal = stateFile === undefined ? undefined : openJournal(stateFile, seconds(now()))
  const genesisTime = journal?.genesisTime ?? seconds(now())
  const engine = await createEngine(genesisTime)
  await fundPayers(engine, genesisTime)
  let head = await readHead(engine)
  await replay(journal?.past ?? []).catch((error: unknown) => {
    journal?.close()
    throw error
  })

  const clock = createBlockClock(now)
  let queue: Promise<unknown> = Promise.resolve()
  return {
    async request({ method, params = [] }) {
      if (method === 'dev_faucet') return change('eth_sendTransaction', [faucetTransaction(params)])
      if (method === 'evm_increaseTime') return clock.increase(params)
      if (method === 'evm_setNextBlockTimestamp') return pinTime(params)
      const instead = REFUSED.get(method)
      if (instead) throw methodNotSupported(method, instead)
      if (CHANGES.has(method)) return change(method, params)
      if (CALLS.has(method)) return call(method, params)
      return engine.request(method, resolveTags(params, head.number, finalityDepth))
    },
    async close() {
      await queue
      journal?.close()
    },
  }

  async function replay(past: readonly Entry[]): Promise<void> {
    for (const [index, { method, params, time, head: parent }] of past.entries()) {
      if (parent !== head.hash) {
        const where = `${stateFile}, line ${index + 2}`
        throw new Error(`${where}, was written on other blocks than this version makes: move the file away.`)
      }
      // What was refused then is refused now, and changes as little.
      await carryOut(method, params, time).catch(() => undefined)
    }
  }

  /** One at a time: the journal's order is the chain's. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work)
    queue = turn.catch(() => undefined)
    return turn
  }

  function change(method: string, params: readonly unknown[]): Promise<unknown> {
    return inTurn(async () => {
      const time = clock.next(head.time)
      const { hash } = head
      journal?.append({ method, params, time, head: hash })
      const result = await carryOut(method, params, time)
      if (head.hash !== hash) clock.unpin()
      return result
    })
  }

  async function carryOut(method: string, params: readonly unknown[], time: number): Promise<unknown> {
    await engine.request('evm_setNextBlockTimestamp', [time])
    const result = await engine.request(method, params)
    head = await readHead(engine)
    return result
  }

  /**
   * The engine runs a call on `latest` at the time of the newest block, which may be hours old where nobody pays. On a
   * chain that never rests it is now, and authorizations depend on it: so the call runs in the block to come.
   */
  function call(method: string, [transaction, tag = 'latest', ...rest]: readonly unknown[]): Promise<unknown> {
    return inTurn(async () => {
      const isNow = tag === 'latest' && (await engine.request('hardhat_getAutomine'))
      if (isNow) await engine.request('evm_setNextBlockTimestamp', [clock.next(head.time)])
      const params = [transaction, isNow ? 'pending' : tag, ...rest]
      return engine.request(method, resolveTags(params, head.number, finalityDepth))
    })
  }

  function pinTime(params: readonly unknown[]): Promise<unknown> {
    return inTurn(async () => {
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
