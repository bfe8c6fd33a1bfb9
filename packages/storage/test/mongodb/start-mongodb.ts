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

type Matches = (command: SeenCommand) => boolean

export type TestMongodb = Awaited<ReturnType<typeof startTestMongodb>>

/** Ends with the test. */
export async function openTestMongodb(timeouts?: Partial<Timeouts>) {
  const at = await startTestMongodb(timeouts)
  onTestFinished(() => at.close())
  return at
}

export async function startTestMongodb(timeouts: Partial<Timeouts> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mongodb-'))
  const start = (port: number) => startMongodbServer({ port, folder, credentials: CREDENTIALS })
  const at = { server: await start(0), isRunning: true }
  const opened: ClosableProvider[] = []
  const open = async (timeouts: Partial<Timeouts>) => {
    const provider = await openMongodb(settingsOf(at.server), { ...TIMEOUTS, ...timeouts })
    opened.push(provider)
    return provider
  }

  return {
    provider: await open(timeouts),
    /** Opens another driver on the same documents. */
    open,
    get server() {
      return at.server
    },
    /** Documents on the server: claims and complete objects. */
    files: () => at.server.documents('svc.objects.files'),
    chunks: () => at.server.documents('svc.objects.chunks'),
    /** The next commands of this kind fail, each with the next fault; later ones succeed again. */
    failNext(matches: Matches, ...faults: Fault[]) {
      at.server.faults.on = (command) => (matches(command) ? (faults.shift() ?? null) : null)
    },
    failAlways(matches: Matches, fault: Fault) {
      at.server.faults.on = (command) => (matches(command) ? fault : null)
    },
    recover() {
      at.server.faults.on = () => null
    },
    watch(see: (command: SeenCommand) => void) {
      at.server.faults.on = (command) => {
        see(command)
        return null
      }
    },
    async stop() {
      at.isRunning = false
      await at.server.stop()
    },
    /** With the same documents. */
    async start() {
      at.server = await start(at.server.port)
      at.isRunning = true
    },
    async close() {
      for (const provider of opened) await provider.close()
      if (at.isRunning) await at.server.stop()
      await rm(folder, { recursive: true })
    },
  }
}

export function settingsOf({ url }: MongodbServer) {
  return { url, database: 'svc', bucket: 'objects' }
}

export function command(name: string, collection: string): Matches {
  return (seen) => seen.name === name && seen.collection === collection
}
