import { type FirestoreServer, startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { onTestFinished } from 'vitest'
import { openFirestore } from '../../src/firestore/open.ts'
import type { FirestoreSettings } from '../../src/firestore/settings.ts'
import type { ClosableProvider } from '../../src/provider.ts'
import type { Timeouts } from '../../src/timeouts.ts'

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

/** With short pauses between attempts; the first must be long enough to reconnect. */
const QUICK: Timeouts = { connectMs: 10_000, answerMs: 20_000, attempts: 3, backoffMs: 60 }

export type TestFirestore = Awaited<ReturnType<typeof startTestFirestore>>

export async function startTestFirestore() {
  const server = await startFirestoreServer()
  const opened: ClosableProvider[] = []
  /** Opens another driver on the same documents. */
  const open = async (settings?: Partial<FirestoreSettings>, timeouts?: Partial<Timeouts>) => {
    const provider = await openFirestore({ ...settingsFor(server.address), ...settings }, { ...QUICK, ...timeouts })
    opened.push(provider)
    return provider
  }
  /** An object has two segments in its path, a chunk four. */
  const paths = async (words: number, id?: string) =>
    (await server.documents())
      .map(({ path }) => path)
      .filter((path) => path.split('/').length === words && (!id || path.includes(id)))
  return {
    server,
    provider: await open(),
    open,
    /** What the server stores of an object, or of all. */
    objects: (id?: string) => paths(2, id),
    chunks: (id?: string) => paths(4, id),
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
