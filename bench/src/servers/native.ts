// A server that is not a Node program. The kernel reports the resource usage of its processes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type ServerProcess, serverProcess, type Usage } from '../server-process.ts'

/** The unit in which Linux counts processor time. */
const TICKS_PER_SECOND = 100
const RETRY_MS = 50
const MAX_ATTEMPTS = 200

export async function startNative(
  program: string,
  argumentsFor: (port: number) => Promise<string[]>,
  cleanUp: () => Promise<void>,
): Promise<ServerProcess> {
  const port = await freePort()
  const child = spawn(program, await argumentsFor(port), { stdio: ['ignore', 'ignore', 'inherit'] })
  const kill = () => void child.kill()
  process.once('exit', kill)
  await waitForPort(port)
  return serverProcess({
    url: `http://127.0.0.1:${port}`,
    facts: null,
    usage: () => usageOf(child.pid as number), // the server answers, so it has started
    async stop() {
      process.off('exit', kill)
      kill()
      await once(child, 'exit')
      await cleanUp()
    },
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function waitForPort(port: number): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await setTimeout(RETRY_MS)
  }
  throw new Error(`nothing answers on port ${port}`)
}

/** The usage of a process and its workers. Shared pages count once. */
export async function usageOf(pid: number): Promise<Usage> {
  const workers = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ').filter(Boolean)
  let cpuSeconds = 0
  let memory = 0
  for (const process of [pid, ...workers]) {
    // The name in parentheses may contain spaces. Fields 14 and 15 are the ticks in user and in kernel mode.
    const fields = (await readFile(`/proc/${process}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')
    cpuSeconds += (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
    const kibibytes = /^Pss:\s+(\d+)/m.exec(await readFile(`/proc/${process}/smaps_rollup`, 'utf8'))?.[1]
    memory += Number(kibibytes) / 1024
  }
  return { cpuSeconds, memory }
}
