// Several processes of a service on one port, which share its connections. This process starts them, replaces those
// that end, writes one log, and forwards their questions to each other. See process-group.ts.

import cluster, { type Worker } from 'node:cluster'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Address, findPort } from '../http/listen.ts'
import { bundleOf } from './bundle.ts'
import type { Variables } from './config.ts'
import type { Log } from './log.ts'
import { type Answers, COLLECT_WITHIN_MS, type FromProcess, type ToProcess } from './process-group.ts'
import type { Running } from './run.ts'

/** The exports of a program's module. */
export interface Runnable {
  run(): Promise<void>
}

export interface ProcessesOptions {
  /** A module that exports `run`. */
  program: URL
  count: number
  /** The shared address, which no other program may use. */
  address: Address
  /** Settings in addition to this process's environment. */
  variables?: Variables
  log: Log
}

/** How a process ended: by itself, by a signal, or because it could not be started. */
type End = { code: number | null; signal: string | null } | { err: unknown }

interface Process {
  worker: Worker
  end: Promise<End>
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 30_000
/** A process that ran this long counts as successful: the next one is started after the shortest pause. */
const RAN_WELL_MS = 60_000

/**
 * The first process starts alone: it migrates the database, and mistakes in the settings are reported once. Resolves
 * when it serves; the others follow.
 */
export async function startProcesses(options: ProcessesOptions): Promise<Running> {
  const { program, count, address, log } = options
  const variables = { ...options.variables, PORT: String(await findPort(address)) }
  // One bundle for all: a process that is replaced after an update must not run, nor migrate to, other code than the
  // rest.
  const bundle = bundleOf(program)
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./run-program.ts', import.meta.url)),
    args: [program.href, ...(bundle === null ? [] : [bundle])],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    // JSON has no NaN, which a metric may be.
    serialization: 'advanced',
  })
  const workers = new Map<number, Worker>()
  const serving = new Map<number, Worker>()
  const stopping = new AbortController()

  function start(place: number): Process {
    const worker = cluster.fork(variables)
    workers.set(place, worker)
    worker.once('online', () => log.info({ process: place, pid: worker.process.pid }, 'process started'))
    worker.on('message', (message: FromProcess) => {
      if ('ready' in message) serving.set(place, worker)
      if ('ask' in message) void askAll(message.ask).then((answers) => send(worker, { answers, ask: message.ask }))
    })
    forwardLines(worker)
    const end = endOf(worker).finally(() => {
      workers.delete(place)
      serving.delete(place)
    })
    return { worker, end }
  }

  async function run(place: number): Promise<End> {
    try {
      return await start(place).end
    } catch (err) {
      return { err }
    }
  }

  async function keepRunning(place: number, first?: Promise<End>): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    for (let running = first; !stopping.signal.aborted; running = undefined) {
      const startedAt = performance.now()
      const end = await (running ?? run(place))
      if (stopping.signal.aborted) return
      const ranMs = performance.now() - startedAt
      pauseMs = ranMs >= RAN_WELL_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      log.error({ process: place, ...end, restart_in_ms: pauseMs }, 'a process ended and is replaced')
      await setTimeout(pauseMs, null, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function askAll(ask: number): Promise<Answers> {
    const asked = [...serving].map(async ([place, worker]): Promise<Answers> => {
      const answer = await answerOf(worker, ask)
      return answer === undefined ? [] : [[place, answer]]
    })
    return (await Promise.all(asked)).flat()
  }

  const first = start(1)
  const url = await readiness(first)
  const kept = [keepRunning(1, first.end), ...Array.from({ length: count - 1 }, (_, i) => keepRunning(i + 2))]
  return {
    url,
    async stop() {
      stopping.abort()
      for (const worker of workers.values()) send(worker, 'stop')
      await Promise.all(kept)
    },
  }
}

function endOf(worker: Worker): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>()
  worker.once('exit', (code, signal) => resolve({ code, signal }))
  // Other errors, such as those of a channel that breaks, are followed by the exit.
  worker.on('error', (err) => worker.process.pid === undefined && resolve({ err }))
  return promise
}

/** The URL at which a process serves. A process that ends earlier has logged the reason. */
async function readiness({ worker, end }: Process): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  worker.on('message', (message: FromProcess) => 'ready' in message && resolve(message.ready))
  const url = await Promise.race([promise, end])
  if (typeof url === 'string') return url
  if ('err' in url) throw url.err
  process.exit(1)
}

/** Undefined when the process ends, or does not answer in time. */
function answerOf(worker: Worker, ask: number): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const listen = (message: FromProcess) => 'answer' in message && message.to === ask && resolve(message.answer)
  const giveUp = AbortSignal.timeout(COLLECT_WITHIN_MS)
  const end = () => resolve(undefined)
  worker.on('message', listen).once('exit', end)
  giveUp.addEventListener('abort', end)
  send(worker, { collect: ask })
  return promise.finally(() => worker.off('message', listen).off('exit', end))
}

/** The process may have died meanwhile. */
function send(worker: Worker, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, () => {})
}

/** Forwards whole lines only: lines of two processes are never mixed. */
function forwardLines({ process: { stdout } }: Worker): void {
  let rest = ''
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) process.stdout.write(rest + text.slice(0, end))
    rest = end > 0 ? text.slice(end) : rest + text
  })
}
