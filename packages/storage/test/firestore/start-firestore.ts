import type { Readable } from 'node:stream'
import { type FirestoreServer, startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { expect, onTestFinished } from 'vitest'
import { type FirestoreProvider, openFirestore } from '../../src/firestore/open.ts'
import type { Patience } from '../../src/firestore/patience.ts'
import type { FirestoreSettings } from '../../src/firestore/settings.ts'
import { ProviderError } from '../../src/provider.ts'

export const MIB = 1024 * 1024
export const ABOUT = { contentType: 'text/plain', size: null }
export const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

export function settingsFor(address: string): FirestoreSettings {
  return {
    project: 'svc-test',
    database: '(default)',
    collection: 'objects',
    credentials: null,
    emulator: address,
    maxObjectBytes: 128 * MIB,
  }
}

/** As in earnest, but for the waiting between tries. */
const QUICK: Patience = { answerMs: 20_000, briefMs: 10_000, attempts: 3, backoffMs: 30 }

export interface TestFirestore {
  server: FirestoreServer
  provider: FirestoreProvider
  /** The same documents, through another door. */
  open(settings?: Partial<FirestoreSettings>, patience?: Partial<Patience>): Promise<FirestoreProvider>
  /** What the server holds of an object, or of all. */
  objects(id?: string): Promise<string[]>
  chunks(id?: string): Promise<string[]>
  stop(): Promise<void>
}

export async function startTestFirestore(): Promise<TestFirestore> {
  const server = await startFirestoreServer()
  const opened: FirestoreProvider[] = []
  const open: TestFirestore['open'] = async (settings, patience) => {
    const provider = await openFirestore({ ...settingsFor(server.address), ...settings }, { ...QUICK, ...patience })
    opened.push(provider)
    return provider
  }
  /** An object has two words in its path, a chunk four. */
  const paths = async (words: number, id?: string) =>
    (await server.documents())
      .map(({ path }) => path)
      .filter((path) => path.split('/').length === words && (!id || path.includes(id)))
  return {
    server,
    provider: await open(),
    open,
    objects: (id) => paths(2, id),
    chunks: (id) => paths(4, id),
    async stop() {
      await Promise.all(opened.map((provider) => provider.close()))
      await server.stop()
    },
  }
}

/** Until the end of the test. */
export function fail(server: FirestoreServer, fault: Parameters<FirestoreServer['fail']>[0]): void {
  server.fail(fault)
  onTestFinished(server.recover)
}

export async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const failure: unknown = await work.catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  return failure as ProviderError // asserted above
}

export async function readToEnd(stream: Readable): Promise<void> {
  for await (const _ of stream);
}
