// Housekeeping that runs by itself. Each may run in several gateways at once: what it takes away, it takes once.

import { forgetNonces } from '../auth/store.ts'
import { type Context, unixNow } from '../context.ts'
import { sweepObjects } from '../files/objects.ts'
import { sweepSessions } from '../transfers/sessions/sweep-sessions.ts'

interface Sweep {
  name: string
  everySeconds: number
  run(context: Context): Promise<unknown>
}

const SWEEPS: readonly Sweep[] = [
  { name: 'nonces', everySeconds: 60, run: (context) => forgetNonces(context.database.db, unixNow(context)) },
  { name: 'rate limits', everySeconds: 300, run: ({ rateLimiter }) => rateLimiter.forget() },
  { name: 'upload sessions', everySeconds: 300, run: sweepSessions },
  { name: 'objects', everySeconds: 300, run: sweepObjects },
]

export interface Sweeping {
  /** Waits for what is under way. */
  stop(): Promise<void>
}

export function startSweeps(context: Context): Sweeping {
  const underWay = new Set<Promise<void>>()
  const timers = SWEEPS.map((sweep) =>
    setInterval(() => {
      const running = runSweep(context, sweep).finally(() => underWay.delete(running))
      underWay.add(running)
    }, sweep.everySeconds * 1000).unref(),
  )
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}

async function runSweep(context: Context, { name, run }: Sweep): Promise<void> {
  try {
    await run(context)
  } catch (error) {
    context.log.error({ sweep: name, err: error }, 'a sweep failed; it is tried again')
  }
}
