// Monitors every log that has an address, in rounds.

import { inParallel } from '@svc/concurrency/parallel'
import { sleep } from '@svc/concurrency/retry'
import { connectJsonRpc } from '@svc/payments/nodes/json-rpc'
import type { Rpc } from '@svc/verifier/rpc'
import type { Context } from '../context.ts'
import { findCosigned } from '../witness/store.ts'
import { type View, viewOfWitness } from './accept-checkpoint.ts'
import { boundedGet } from './bounded-get.ts'
import { followLog } from './follow-log.ts'
import { reportAlarms } from './report-alarms.ts'

export interface Monitor {
  /** Follows every log once. */
  round(): Promise<void>
  /** Stops the current round, and waits for its end. */
  stop(): Promise<void>
}

const MAX_LOGS = 4

export function createMonitor(context: Context): Monitor {
  const { config, log } = context
  const { intervalSeconds, rpcUrl } = config.monitor
  const stopping = new AbortController()
  const get = boundedGet(stopping.signal)
  const rpc = rpcUrl === null ? null : rpcUntil(stopping.signal, rpcUrl)

  async function round(): Promise<void> {
    const { logs, witnesses } = context.logs.all()
    const addresses = new Map(
      logs.flatMap(({ key, url }) => (url === null ? [] : [[key.name, withoutSlash(url)] as const])),
    )
    await inParallel(addresses, MAX_LOGS, async ([origin, url]) => {
      const others = witnesses.flatMap(({ name, url }) =>
        url === null ? [] : [viewOfWitness(name, withoutSlash(url), origin, get)],
      )
      try {
        await followLog(
          context,
          { origin, keys: context.logs.keysOf(origin), url },
          { get, rpc, views: [ownView(context, origin), ...others] },
        )
      } catch (error) {
        // A failure must not affect other logs.
        if (!stopping.signal.aborted) log.error({ err: error, origin }, 'cannot follow a log')
      }
    })
    await reportAlarms(context, stopping.signal)
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await round().catch((error: unknown) => log.error({ err: error }, 'a round of the monitor failed'))
      await sleep(intervalSeconds * 1000, stopping.signal).catch(() => {})
    }
  }

  const running = intervalSeconds > 0 ? run() : Promise.resolve()
  return {
    round,
    async stop() {
      stopping.abort()
      await running
    },
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** The checkpoints that this program has cosigned. */
function ownView({ database, key }: Context, origin: string): View {
  return { name: key.name, checkpoint: async () => (await findCosigned(database.db, origin))?.note ?? null }
}

const CALL_TIMEOUT_MS = 20_000

function rpcUntil(signal: AbortSignal, url: string): Rpc {
  const call = connectJsonRpc(url)
  return (method, params) => call(method, [...params], AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]))
}
