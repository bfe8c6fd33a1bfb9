// What one of several processes of a service says to the one that started them, and asks of the others.

import cluster from 'node:cluster'

/** Answers of all processes, each with the place of its process: 1, 2, … */
export type Answers = [place: number, answer: unknown][]

export type ToProcess = 'stop' | { collect: number } | { ask: number; answers: Answers }
export type FromProcess = { ready: string } | { ask: number } | { to: number; answer: unknown }

export const COLLECT_WITHIN_MS = 2000

export interface ProcessGroup {
  isOneOfSeveral: boolean
  /** Returns a function that calls `collect` in every process of the service. Of several, one where it fails is left out. */
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
        if ('collect' in message) return say({ to: message.collect, answer: await collect().catch(() => undefined) })
        waiting.get(message.ask)?.(message.answers)
        waiting.delete(message.ask)
      })
      return async () => {
        const { promise, resolve } = Promise.withResolvers<Answers>()
        // Processes must not use each other's numbers.
        const ask = ++asks * 4_194_304 + process.pid
        waiting.set(ask, resolve)
        say({ ask })
        return (await promise) as [number, Awaited<ReturnType<typeof collect>>][] // each answer is from `collect`
      }
    },
  }
}

/** Tells the starting process, if there is one, that this process serves. */
export function sayReady(url: string): void {
  if (cluster.isWorker) say({ ready: url })
}

/** Resolves when the starting process asks for it. Called before anything else listens, which would miss it. */
export function askedToStop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (cluster.isWorker) process.on('message', (message: ToProcess) => message === 'stop' && resolve())
  return promise
}

function say(message: FromProcess): void {
  if (process.connected) process.send?.(message)
}
