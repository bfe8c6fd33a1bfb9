// A server in a separate process, so that its processor time does not include the load's.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

const SAMPLE_MS = 100

export interface ServerProcess {
  url: string
  /** Other values that the server reports. */
  facts: unknown
  cpuSeconds(): Promise<number>
  /** Sends a message to the server. */
  tell(message: string): void
  /** The peak memory of the server while `work` runs, in MiB. */
  peakMemory(work: () => Promise<unknown>): Promise<number>
  stop(): Promise<void>
}

export interface StartOptions {
  /** Confines the server to one core, where its threads do not slow each other down. Only Linux can. */
  onOneCore?: boolean
}

export async function startServer(
  name: string,
  variables: Readonly<Record<string, string | undefined>> = {},
  { onOneCore = false }: StartOptions = {},
): Promise<ServerProcess> {
  const confined = onOneCore && process.platform === 'linux'
  const child = fork(new URL(`./servers/${name}.ts`, import.meta.url), {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(confined && { execPath: 'taskset', execArgv: ['-c', '0', process.execPath] }),
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ${name} ended with code ${code} before it answered`)
  })
  const [{ url, facts }] = (await Promise.race([once(child, 'message'), ended])) as [{ url: string; facts: unknown }]
  const usage = async () => {
    child.send('usage')
    return ((await once(child, 'message')) as [Usage])[0]
  }
  return serverProcess({ url, facts, usage, tell: (message) => void child.send(message), stop: () => stop(child) })
}

/** Wraps a server whose current resource usage is readable. */
export function serverProcess({
  url,
  facts,
  usage,
  tell = () => {},
  stop,
}: {
  url: string
  facts: unknown
  usage: () => Promise<Usage>
  tell?: (message: string) => void
  stop: () => Promise<void>
}): ServerProcess {
  return {
    url,
    facts,
    tell,
    cpuSeconds: async () => (await usage()).cpuSeconds,
    async peakMemory(work) {
      let peak = 0
      let isDone = false
      const done = work().finally(() => {
        isDone = true
      })
      while (!isDone) {
        peak = Math.max(peak, (await usage()).memory)
        await setTimeout(SAMPLE_MS)
      }
      await done
      return peak
    },
    stop,
  }
}

export interface Usage {
  cpuSeconds: number
  memory: number
}

/**
 * Runs in the server's process: reports its URL, reports its usage on request, and stops when the parent disconnects.
 * `othersCpuSeconds` is the processor time of other processes that serve with it.
 */
export function reportTo(
  parent: NodeJS.Process,
  url: string,
  stop: () => Promise<void>,
  facts: unknown = null,
  othersCpuSeconds: () => number = () => 0,
): void {
  parent.on('message', (message) => {
    if (message !== 'usage') return
    const { user, system } = process.cpuUsage()
    const memory = process.memoryUsage.rss() / 1_048_576
    parent.send?.({ cpuSeconds: (user + system) / 1e6 + othersCpuSeconds(), memory } satisfies Usage)
  })
  parent.on('disconnect', () => void stop().then(() => process.exit()))
  parent.send?.({ url, facts })
}

async function stop(child: ChildProcess): Promise<void> {
  child.disconnect()
  await once(child, 'exit')
}
