// Messages between one of several processes of a service, the process that started it, and the other processes.

import cluster from 'node:cluster'

/** The answers of all processes, each with the number of its process: 1, 2, … */
export type Answers = [place: number, answer: unknown][]

export type ToProcess = 'stop' | { collect: number } | { ask: number; answers: Answers }
export type FromProcess = { ready: string } | { ask: number } | { to: number; answer: unknown }

export const COLLECT_WITHIN_MS = 2000

export interface ProcessGroup {
  isOneOfSeveral: boolean
  /**
   * Returns a function that calls `collect` in every process of the service. With several processes, failed ones are
   * omitted.
   */
  fromAll<Answer>(collect: () => Promise<Answer>): () => Promise<[place: number, answer: Answer][]>
}

const ONLY_PROCESS: ProcessGroup = {
  isOneOfSeveral: false,
  fromAll: (collect) => async () => [[1, await collect()]],
}

export function processGroup(): ProcessGroup {
  return cluster.isWorker ? oneOfSeveral() : ONLY_PROCESS
}

function oneOfSeveral(): ProcessGroup {
  let asks = 0
  return {
    isOneOfSeveral: true,
    fromAll(collect) {
      const waiting = new Map<number, (answers: Answers) => void>()
      process.on('message', async (message: ToProcess) => {
        if (message === 'stop') return
        if ('collect' in message)
          return notifyStarter({ to: message.collect, answer: await collect().catch(() => undefined) })
        waiting.get(message.ask)?.(message.answers)
        waiting.delete(message.ask)
      })
      return async () => {
        const { promise, resolve } = Promise.withResolvers<Answers>()
        // Processes must not use each other's numbers.
        const ask = ++asks * 4_194_304 + process.pid
        waiting.set(ask, resolve)
        notifyStarter({ ask })
        return (await promise) as [number, Awaited<ReturnType<typeof collect>>][] // each answer is from `collect`
      }
    },
  }
}

/** Reports to the starting process, if there is one, that this process serves. */
export function reportReady(url: string): void {
  if (cluster.isWorker) notifyStarter({ ready: url })
}

/**
 * Resolves when the starting process requests a stop. Call it before anything else listens, which would miss the
 * message.
 */
export function stopRequested(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (cluster.isWorker) process.on('message', (message: ToProcess) => message === 'stop' && resolve())
  return promise
}

function notifyStarter(message: FromProcess): void {
  if (process.connected) process.send?.(message)
}
