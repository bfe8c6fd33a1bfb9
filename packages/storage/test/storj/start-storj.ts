import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StorjServer, type StorjServerOptions, startStorjServer } from '@svc/devnet/providers/storj/start'
import { onTestFinished } from 'vitest'
import type { StorageProvider } from '../../src/provider.ts'
import { openStorj } from '../../src/storj/open.ts'
import type { StorjSettings } from '../../src/storj/settings.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../../src/timeouts.ts'

export interface TestStorj {
  server: StorjServer
  provider: StorageProvider
  /** Opens another driver on the same store. */
  open(settings?: Partial<StorjSettings>, timeouts?: Partial<HttpTimeouts>): Promise<StorageProvider>
  /** Stops the store and starts it again, with its objects, at the same address. */
  restart(): Promise<void>
  /** Files of objects and parts that are being written, or were left. */
  incoming(): Promise<string[]>
  close(): Promise<void>
}

/** Almost without pauses between attempts. */
const QUICK: HttpTimeouts = { ...HTTP_TIMEOUTS, backoffMs: 1 }

export async function startTestStorj(options: Partial<StorjServerOptions> = {}): Promise<TestStorj> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-storj-'))
  const server = await startStorjServer({ folder, ...options })
  const { url, bucket, credentials } = server
  const settings: StorjSettings = { ...credentials, endpoint: url, bucket, prefix: 'test/', redirect: 'off' }
  const storj: TestStorj = {
    server,
    provider: await openStorj(settings, QUICK),
    open: (changed, timeouts) => openStorj({ ...settings, ...changed }, { ...QUICK, ...timeouts }),
    async restart() {
      await storj.server.stop()
      storj.server = await startStorjServer({ folder, ...options, port: server.port })
    },
    incoming: () => readdir(join(folder, 'incoming')),
    async close() {
      await storj.server.stop()
      await rm(folder, { recursive: true })
    },
  }
  return storj
}

/** Ends with the test. */
export async function openTestStorj(options?: Partial<StorjServerOptions>): Promise<TestStorj> {
  const storj = await startTestStorj(options)
  onTestFinished(() => storj.close())
  return storj
}
