import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FilecoinServerOptions, startFilecoinServer } from '@svc/devnet/providers/filecoin/start'
import { onTestFinished } from 'vitest'
import { openFilecoin } from '../../src/filecoin/open.ts'
import type { FilecoinSettings } from '../../src/filecoin/settings.ts'
import { type FilecoinTimeouts, TIMEOUTS } from '../../src/filecoin/timeouts.ts'
import type { SlowStore, StagedObject } from '../../src/slow-store.ts'
import { newId, streamOf } from '../objects.ts'

export type TestFilecoin = Awaited<ReturnType<typeof startTestFilecoin>>

/** The key of no real account. */
const KEY = `0x${'5c'.repeat(32)}` as const

/** Almost without pauses. */
const QUICK: FilecoinTimeouts = { ...TIMEOUTS, continueMs: 50, backoffMs: 1, pollMs: 1, progressMs: 5_000 }

export async function startTestFilecoin(options: Partial<FilecoinServerOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-filecoin-'))
  const server = await startFilecoinServer({ folder, ...options })
  const { url: pdpUrl, rpcUrl, chainId, recordKeeper, payee } = server
  const chain = { rpcUrl, chainId, recordKeeper, payee }
  const settings: FilecoinSettings = { ...chain, pdpUrl, key: KEY, dataSet: null, retrievalUrl: null }
  return {
    server,
    store: await openFilecoin(settings, QUICK),
    /** Opens another driver, as another gateway would. */
    open: (changed?: Partial<FilecoinSettings>, timeouts?: Partial<FilecoinTimeouts>) =>
      openFilecoin({ ...settings, ...changed }, { ...QUICK, ...timeouts }),
    async close() {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  }
}

/** Ends with the test. */
export async function openTestFilecoin(options?: Partial<FilecoinServerOptions>) {
  const filecoin = await startTestFilecoin(options)
  onTestFinished(() => filecoin.close())
  return filecoin
}

interface TestObject {
  id: string
  /** Runs like the job: each run begins with the progress of the last one. */
  deliver(store: SlowStore, changed?: Partial<StagedObject>): Promise<string>
  /** The result of the last run. */
  progress: unknown
}

export function stage(bytes: Buffer): TestObject {
  const staged: TestObject = {
    id: newId(),
    progress: null,
    async deliver(store, changed = {}) {
      const { ref } = await store.deliver({
        id: staged.id,
        size: bytes.length,
        sha256: hash('sha256', bytes),
        contentType: 'text/plain',
        open: async () => streamOf(bytes),
        progress: staged.progress,
        async saveProgress(progress) {
          staged.progress = JSON.parse(JSON.stringify(progress))
        },
        signal: new AbortController().signal,
        ...changed,
      })
      return ref
    },
  }
  return staged
}
