// A process that starts something, says so, and stops it in order.

import { flushCompileCache } from 'node:module'
import closeWithGrace from 'close-with-grace'
import { ConfigError } from './config.ts'
import type { Service } from './service.ts'

export interface Running {
  stop(): Promise<void>
}

const STOP_WITHIN_MS = 30_000

/** Requests in flight are finished on SIGTERM and Ctrl-C; a second signal ends the process at once. */
export async function runUntilStopped(start: () => Promise<Running>): Promise<void> {
  let running: Running
  try {
    running = await start()
    // One that is killed later would else leave the next nothing of what it has compiled.
    flushCompileCache()
  } catch (error) {
    console.error(advice(error) ?? error)
    process.exit(1)
  }
  closeWithGrace({ delay: STOP_WITHIN_MS, logger: false }, async ({ err }) => {
    if (err) console.error(err)
    await running.stop()
  })
}

/** What can be mended by reading a sentence; a stack trace would only hide it. */
function advice(error: unknown): string | null {
  if (error instanceof ConfigError) return error.message
  const { code, port } = error as NodeJS.ErrnoException & { port?: number }
  return code === 'EADDRINUSE'
    ? `Port ${port} is in use: stop what runs there, or choose another (see .env.example).`
    : null
}

/** Requests in flight are finished, for a while; connections that nobody says anything on do not count as idle. */
export async function closeService({ app }: Service, { graceMs }: { graceMs: number }): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs)
  try {
    await app.close()
  } finally {
    clearTimeout(timer)
  }
}
