import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fault, SeenCommand } from '@svc/devnet/providers/mongodb/faults'
import { type MongodbServer, startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { onTestFinished } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import type { ClosableProvider } from '../../src/provider.ts'
import type { Timeouts } from '../../src/timeouts.ts'

export const MIB = 1024 * 1024
export const CREDENTIALS = { user: 'gateway', password: 'p@ss/w:rd' }
export const ABOUT = { contentType: 'text/plain', size: null }
export const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

const TIMEOUTS: Timeouts = { connectMs: 10_000, answerMs: 15_000, attempts: 3, backoffMs: 200 }

export interface TestMongodb {
  provider: ClosableProvider
  server: MongodbServer
  /** Documents on the server: claims and complete objects. */
  files(): Record<string, unknown>[]
  chunks(): Record<string, unknown>[]
  /** The next commands of this kind fail, each with the next fault; then they succeed again. */
  failNext(matches: (command: SeenCommand) => boolean, ...faults: Fault[]): void
  /** All commands of this kind fail from now on. */
  failAlways(matches: (command: SeenCommand) => boolean, fault: Fault): void
  recover(): void
  watch(see: (command: SeenCommand) => void): void
  stop(): Promise<void>
  /** Starts the server again, with the same documents. */
  start(): Promise<void>
}

/** Ends with the test. */
export async function openTestMongodb(timeouts: Partial<Timeouts> = {}): Promise<TestMongodb> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mongodb-'))
  const start = (port: number) => startMongodbServer({ port, folder, credentials: CREDENTIALS })
  const at = { server: await start(0), isRunning: true }
  const provider = await openMongodb(settingsOf(at.server), { ...TIMEOUTS, ...timeouts })
  onTestFinished(async () => {
    await provider.close()
    if (at.isRunning) await at.server.stop()
    await rm(folder, { recursive: true })
  })

  return {
    provider,
    get server() {
      return at.server
    },
    files: () => at.server.documents('svc.objects.files'),
    chunks: () => at.server.documents('svc.objects.chunks'),
    failNext(matches, ...faults) {
      at.server.faults.on = (command) => (matches(command) ? (faults.shift() ?? null) : null)
    },
    failAlways(matches, fault) {
      at.server.faults.on = (command) => (matches(command) ? fault : null)
    },
    recover() {
      at.server.faults.on = () => null
    },
    watch(see) {
      at.server.faults.on = (command) => {
        see(command)
        return null
      }
    },
    async stop() {
      at.isRunning = false
      await at.server.stop()
    },
    async start() {
      at.server = await start(at.server.port)
      at.isRunning = true
    },
  }
}

export function settingsOf({ url }: MongodbServer) {
  return { url, database: 'svc', bucket: 'objects' }
}

export function command(name: string, collection: string): (command: SeenCommand) => boolean {
  return (seen) => seen.name === name && seen.collection === collection
}
