// Gateways with one database: processes of this checkout or another, each at a port of its own.

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
  start(place: Place, release: URL): Promise<void>
  /** Stops the gateway at this place as an operator does, and starts another. */
  replace(place: Place, release: URL): Promise<void>
  stop(): Promise<void>
}

type Place = 'a' | 'b'

/** Each release refuses or ignores the names of the other. */
function noLimits(release: URL): Record<string, string> {
  const isUpTo110 = !existsSync(new URL('apps/gateway/src/renamed-settings.ts', release))
  return isUpTo110
    ? { RATE_LIMIT_ADDRESS: '0', RATE_LIMIT_RECEIPT: '0', RATE_LIMIT_SIGNER: '0' }
    : { RATE_LIMITS: 'address=0/min,signer=0/min,receipt=0/min' }
}

export async function createFleet(variables: Readonly<Record<string, string | undefined>>): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-fleet-'))
  const ports = { a: await freePort(), b: await freePort() }
  const running = new Map<Place, ChildProcess>()
  const urlOf = (place: Place) => `http://127.0.0.1:${ports[place]}`

  async function start(place: Place, release: URL): Promise<void> {
    const env = programEnvironment({
      ...variables,
      SVC_MODE: 'development',
      HOST: '127.0.0.1',
      PORT: String(ports[place]),
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
    running.set(place, child)
    while (!(await answers(urlOf(place)))) {
      if (child.exitCode !== null) throw new Error(`a gateway ended with ${child.exitCode}`)
    }
  }

  async function stop(place: Place): Promise<void> {
    const child = running.get(place)
    if (!child || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }

  return {
    urls: [urlOf('a'), urlOf('b')],
    start,
    async replace(place, release) {
      await stop(place)
      await start(place, release)
    },
    async stop() {
      await Promise.all([...running.keys()].map(stop))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health/live`, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  )
}
