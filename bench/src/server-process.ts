// A server in a process of its own, so that its processor time can be told from the load's.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

export interface ServerProcess {
  url: string
  cpuSeconds(): Promise<number>
  stop(): Promise<void>
}

export async function startServer(
  name: string,
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<ServerProcess> {
  const child = fork(new URL(`./servers/${name}.ts`, import.meta.url), {
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    async cpuSeconds() {
      child.send('cpu')
      const [seconds] = (await once(child, 'message')) as [number]
      return seconds
    },
    stop: () => stop(child),
  }
}

/** In the server's process: says where it listens, then its processor time whenever asked, and stops when left alone. */
export function reportTo(parent: NodeJS.Process, url: string, stop: () => Promise<void>): void {
  parent.on('message', () => {
    const { user, system } = process.cpuUsage()
    parent.send?.((user + system) / 1e6)
  })
  parent.on('disconnect', () => void stop().then(() => process.exit()))
  parent.send?.(url)
}

async function stop(child: ChildProcess): Promise<void> {
  child.disconnect()
  await once(child, 'exit')
}
