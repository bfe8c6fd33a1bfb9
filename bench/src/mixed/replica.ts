// A gateway as a process of its own that can be killed at any moment and started again on the same port.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@svc/devnet/free-port'
import { LAUNCHER, programEnvironment } from '@svc/devnet/start-process'

const MAIN = fileURLToPath(new URL('../../../apps/gateway/src/main.ts', import.meta.url))
const CLOCK = fileURLToPath(new URL('../faults/shifted-clock.mjs', import.meta.url))
const ASK_EVERY_MS = 50
const ANSWER_WITHIN_MS = 10_000
/** As whatever runs services does. */
const RESTART_MS = 500
/** Only what hangs takes so long, however busy the machine is. */
const START_WITHIN_MS = 180_000

export interface Replica {
  url: string
  /** Of the process that runs; 0 when none does. */
  pid(): number
  /** By SIGKILL, also while it starts. */
  kill(): Promise<void>
  /** Kills it for good: it is not started any more. */
  close(): Promise<void>
  /** Resolves when it is ready, or when it was killed meanwhile. One that ends by itself is started again. */
  start(options?: StartOptions): Promise<void>
}

interface StartOptions {
  /** By how much its clock is wrong, and after how long: milliseconds. */
  clock?: { jumpMs: number; afterMs: number }
  /** For this start, beside those of the replica. */
  variables?: Readonly<Record<string, string>>
}

interface ReplicaOptions {
  variables: Readonly<Record<string, string | undefined>>
  /** Where its log goes; the standard error of ours without it. */
  logFile?: string
}

export async function createReplica({ variables, logFile }: ReplicaOptions): Promise<Replica> {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const env = programEnvironment({ HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...variables, PORT: port })
  const log = logFile ? openSync(logFile, 'a') : 'inherit'
  let child: ChildProcess | null = null
  let ended: Promise<unknown> = Promise.resolve()
  /** Whoever kills or starts it takes over from whoever is still starting it. */
  let turn = 0
  let isClosed = false

  /** Resolves to whether nobody else took over meanwhile. */
  async function end(): Promise<boolean> {
    const own = ++turn
    child?.kill('SIGKILL')
    await ended
    return own === turn && !isClosed
  }

  function run({ clock, variables: own }: StartOptions): ChildProcess {
    const jump = clock && { CLOCK_JUMP_MS: String(clock.jumpMs), CLOCK_JUMP_AFTER_MS: String(clock.afterMs) }
    const hook = clock ? ['--import', CLOCK] : []
    const started = spawn(process.execPath, [...hook, fileURLToPath(LAUNCHER), MAIN], {
      env: { ...env, ...own, ...jump },
      stdio: ['ignore', log, log],
    })
    child = started
    ended = once(started, 'exit')
    return started
  }

  return {
    url,
    pid: () => (child && isRunning(child) ? (child.pid ?? 0) : 0),
    kill: async () => void (await end()),
    async close() {
      isClosed = true
      await end()
    },
    async start(options = {}) {
      if (!(await end())) return
      const own = turn
      const giveUpAt = performance.now() + START_WITHIN_MS
      let running = run(options)
      while (own === turn && !(await isReady(url))) {
        if (performance.now() > giveUpAt) throw new Error(`a gateway does not get ready; see ${logFile ?? 'above'}`)
        await setTimeout(isRunning(running) ? ASK_EVERY_MS : RESTART_MS)
        if (own === turn && !isRunning(running)) running = run(options)
      }
    },
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}

async function isReady(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const answer = await fetch(`${url}/health/ready`, { headers: { connection: 'close' }, signal }).catch(() => null)
  await answer?.arrayBuffer().catch(() => null)
  return answer?.status === 200
}
