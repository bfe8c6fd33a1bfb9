// The gateway's program as an admin starts it, with lockers whose owner keys are known.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGatewayProgram } from './gateway-program.ts'
import { type ServerProcess, serverProcess, startServer } from './server-process.ts'
import { usageOf } from './servers/native.ts'

/** Starts the program with one locker that was created before. */
export async function startLockerProgram(variables: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const { facts, stop } = await startServer('lockers', { DATA_DIR: folder, ...variables })
  await stop()
  // The first start after an installation also fills caches for later starts, which needs memory once.
  await (await startGatewayProgram({ DATA_DIR: folder, ...variables })).stop()
  const program = await startGatewayProgram({ DATA_DIR: folder, ...variables })
  return serverProcess({
    url: program.url,
    facts,
    usage: async () => ({ ...(await usageOf(program.pid)), memory: await residentMemory(program.pid) }),
    async stop() {
      await program.stop()
      await rm(folder, { recursive: true })
    },
  })
}

/** Includes pages shared with other processes, as in the figures of the peers. */
async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024
}
