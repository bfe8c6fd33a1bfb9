// Gateways with one database: processes of this checkout or another one, each on its own port.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../packages/devnet/src/free-port.ts'
import { programEnvironment } from '../../packages/devnet/src/start-process.ts'

export interface Fleet {
  urls: readonly string[]
  start(slot: Slot, release: URL): Promise<void>
  /** Stops the gateway in this slot as an admin does, and starts another one there. */
  replace(slot: Slot, release: URL): Promise<void>
  stop(): Promise<void>
}

type Slot = 'a' | 'b'

/** Each release refuses or ignores the setting names of the other. */
function noLimits(release: URL): Record<string, string> {
  const isUpTo110 = !existsSync(new URL('apps/gateway/src/renamed-settings.ts', release))
  return isUpTo110
    ? { RATE_LIMIT_ADDRESS: '0', RATE_LIMIT_RECEIPT: '0', RATE_LIMIT_SIGNER: '0' }
    : { RATE_LIMITS: 'address=0/min,signer=0/min,receipt=0/min' }
}

export async function createFleet(variables: Readonly<Record<string, string | undefined>>): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-fleet-'))
  const ports = { a: await freePort(), b: await freePort() }
  const running = new Map<Slot, ChildProcess>()
  const urlOf = (slot: Slot) => `http://127.0.0.1:${ports[slot]}`

  async function start(slot: Slot, release: URL): Promise<void> {
    const env = programEnvironment({
      ...variables,
      SVC_MODE: 'development',
      HOST: '127.0.0.1',
      PORT: String(ports[slot]),
      BASE_URL: 'http://gateway.example',
      PROCESSES: '1',
      DATA_DIR: folder,
      PAGES_DIR: '/nonexistent',
      LOG_LEVEL: 'error',
      ...noLimits(release),
      MAX_LOCKERS_PER_OWNER: '1000000',
    })
    const program = fileURLToPath(new URL('apps/gateway/src/main.ts', release))
    const child = spawn(process.execPath, [program], { cwd: release, env, stdio: ['ignore', 'inherit', 'inherit'] })
    running.set(slot, child)
    while (!(await isAnswering(urlOf(slot)))) {
      if (child.exitCode !== null) throw new Error(`a gateway ended with ${child.exitCode}`)
    }
  }

  async function stop(slot: Slot): Promise<void> {
    const child = running.get(slot)
    if (!child || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }

  return {
    urls: [urlOf('a'), urlOf('b')],
    start,
    async replace(slot, release) {
      await stop(slot)
      await start(slot, release)
    },
    async stop() {
      await Promise.all([...running.keys()].map(stop))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function isAnswering(url: string): Promise<boolean> {
  return fetch(`${url}/health/live`, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  )
}
