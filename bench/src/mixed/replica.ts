// A gateway in a separate process that can be killed at any moment and restarted on the same port.

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
/** The restart delay of a typical service manager. */
const RESTART_MS = 500
/** Only a hanging process takes so long, even on a busy machine. */
const START_WITHIN_MS = 180_000

export interface Replica {
  url: string
  /** The id of the running process, or 0. */
  pid(): number
  /** Kills the process with SIGKILL, even while it starts. */
  kill(): Promise<void>
  /** Kills the process permanently. */
  close(): Promise<void>
  /** Resolves when it is ready or has been killed meanwhile. A process that ends by itself is restarted. */
  start(options?: StartOptions): Promise<void>
}

interface StartOptions {
  /** The jump of its clock and the delay until then, in milliseconds. */
  clock?: { jumpMs: number; afterMs: number }
  /** Variables for this start, in addition to those of the replica. */
  variables?: Readonly<Record<string, string>>
}

interface ReplicaOptions {
  variables: Readonly<Record<string, string | undefined>>
  /** The file for its log; by default, the log goes to the standard error of this process. */
  logFile?: string
}

export async function createReplica({ variables, logFile }: ReplicaOptions): Promise<Replica> {
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const env = programEnvironment({ HOST: '127.0.0.1', LOG_LEVEL: 'warn', ...variables, PORT: port })
  const log = logFile ? openSync(logFile, 'a') : 'inherit'
  let child: ChildProcess | null = null
  let ended: Promise<unknown> = Promise.resolve()
  /** Counts calls that kill or start the process: each one supersedes a start in progress. */
  let generation = 0
  let isClosed = false

  /** Resolves to false if a later call has superseded this one. */
  async function end(): Promise<boolean> {
    const own = ++generation
    child?.kill('SIGKILL')
    await ended
    return own === generation && !isClosed
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
      const own = generation
      const giveUpAt = performance.now() + START_WITHIN_MS
      let running = run(options)
      while (own === generation && !(await isReady(url))) {
        if (performance.now() > giveUpAt) throw new Error(`a gateway did not become ready; see ${logFile ?? 'above'}`)
        await setTimeout(isRunning(running) ? ASK_EVERY_MS : RESTART_MS)
        if (own === generation && !isRunning(running)) running = run(options)
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
