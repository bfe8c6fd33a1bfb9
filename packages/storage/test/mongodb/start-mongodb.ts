import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Fault, SeenCommand } from '@svc/devnet/providers/mongodb/faults'
import { type MongodbServer, startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { expect, onTestFinished } from 'vitest'
import type { Timeouts } from '../../src/mongodb/bucket.ts'
import { type MongodbProvider, openMongodb } from '../../src/mongodb/open.ts'
import { ProviderError } from '../../src/provider.ts'

export const MIB = 1024 * 1024
export const CREDENTIALS = { user: 'gateway', password: 'p@ss/w:rd' }
export const ABOUT = { contentType: 'text/plain', size: null }
export const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

const PATIENT: Timeouts = { connectMs: 10_000, answerMs: 15_000 }

export interface TestMongodb {
  provider: MongodbProvider
  server: MongodbServer
  /** What the server holds: claims and whole objects. */
  files(): Record<string, unknown>[]
  chunks(): Record<string, unknown>[]
  /** From now on, one fault after the other befalls such commands; then all is well. */
  failNext(isMeant: (command: SeenCommand) => boolean, ...faults: Fault[]): void
  /** Such commands fail from now on. */
  failAlways(isMeant: (command: SeenCommand) => boolean, fault: Fault): void
  recover(): void
  watch(see: (command: SeenCommand) => void): void
  stop(): Promise<void>
  /** The same server with the same documents. */
  start(): Promise<void>
}

/** Gone with the test. */
export async function openTestMongodb(timeouts = PATIENT): Promise<TestMongodb> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mongodb-'))
  const start = (port: number) => startMongodbServer({ port, folder, credentials: CREDENTIALS })
  const at = { server: await start(0), isRunning: true }
  const provider = await openMongodb(settingsOf(at.server), timeouts)
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
    failNext(isMeant, ...faults) {
      at.server.faults.on = (command) => (isMeant(command) ? (faults.shift() ?? null) : null)
    },
    failAlways(isMeant, fault) {
      at.server.faults.on = (command) => (isMeant(command) ? fault : null)
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

export async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const failure: unknown = await work.catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  return failure as ProviderError // asserted above
}

export async function readToEnd(stream: Readable): Promise<void> {
  for await (const _ of stream);
}
