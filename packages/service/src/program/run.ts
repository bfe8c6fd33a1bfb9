// The life of a service's process: it starts, reports its address, and stops in order.

import { flushCompileCache } from 'node:module'
import { availableParallelism } from 'node:os'
import closeWithGrace from 'close-with-grace'
import type { Service } from '../http/service.ts'
import { ConfigError } from './config.ts'
import { reportReady, stopRequested } from './process-group.ts'

export interface Running {
  /** The URL at which it serves. */
  url: string
  stop(): Promise<void>
}

const STOP_WITHIN_MS = 30_000
/** Node's own number of threads for files and hashes, on any machine. */
const MIN_THREADS = 4

/**
 * Finishes running requests on SIGTERM and Ctrl-C. A second signal ends the process immediately. `portVariables` maps
 * each port to its setting, for programs with several.
 */
export async function runUntilStopped(
  start: () => Promise<Running>,
  portVariables: ReadonlyMap<number, string> = new Map(),
): Promise<void> {
  // Read when the first of these threads is needed.
  process.env.UV_THREADPOOL_SIZE ??= String(Math.max(MIN_THREADS, availableParallelism()))
  const asked = stopRequested()
  let running: Running
  try {
    running = await start()
    // Written now, in case the process is killed later.
    flushCompileCache()
  } catch (error) {
    console.error(advice(error, portVariables) ?? error)
    process.exit(1)
  }
  reportReady(running.url)
  let isStopping = false
  const { close } = closeWithGrace({ delay: STOP_WITHIN_MS, logger: false }, async ({ err }) => {
    isStopping = true
    if (err) console.error(err)
    await running.stop()
  })
  void asked.then(() => {
    if (!isStopping) close()
  })
}

/** A sentence for errors that the admin can fix, instead of a stack trace. */
function advice(error: unknown, portVariables: ReadonlyMap<number, string>): string | null {
  if (error instanceof ConfigError) return error.message
  const { name, message, code, port = 0 } = error as NodeJS.ErrnoException & { port?: number }
  if (name === 'DatabaseUnavailable') return `Cannot start: ${message} (see DATABASE_URL).`
  return code === 'EADDRINUSE'
    ? `Port ${port} is in use: stop what runs there, or choose another with ${portVariables.get(port) ?? 'PORT'} (see .env.example).`
    : null
}

/** Finishes running requests for up to `graceMs`. Node does not close connections that never sent a request. */
export async function closeService(service: Service, { graceMs }: { graceMs: number }): Promise<void> {
  const timer = setTimeout(() => service.server.closeAllConnections(), graceMs)
  try {
    await service.close()
  } finally {
    clearTimeout(timer)
  }
}
