import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StorjServerOptions, startStorjServer } from '@svc/devnet/providers/storj/start'
import { onTestFinished } from 'vitest'
import { openStorj } from '../../src/storj/open.ts'
import type { StorjSettings } from '../../src/storj/settings.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../../src/timeouts.ts'

export type TestStorj = Awaited<ReturnType<typeof startTestStorj>>

/** Almost without pauses between attempts. */
const QUICK: HttpTimeouts = { ...HTTP_TIMEOUTS, backoffMs: 1 }

export async function startTestStorj(options: Partial<StorjServerOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-storj-'))
  const server = await startStorjServer({ folder, ...options })
  const { url, bucket, credentials } = server
  const settings: StorjSettings = { ...credentials, endpoint: url, bucket, prefix: 'test/', redirect: 'off' }
  const storj = {
    server,
    provider: await openStorj(settings, QUICK),
    /** Opens another driver on the same store. */
    open: (changed?: Partial<StorjSettings>, timeouts?: Partial<HttpTimeouts>) =>
      openStorj({ ...settings, ...changed }, { ...QUICK, ...timeouts }),
    /** Stops the store and starts it again, with its objects, at the same address. */
    async restart() {
      await storj.server.stop()
      storj.server = await startStorjServer({ folder, ...options, port: server.port })
    },
    /** Files of objects and parts that are being written, or were left. */
    incoming: () => readdir(join(folder, 'incoming')),
    async close() {
      await storj.server.stop()
      await rm(folder, { recursive: true })
    },
  }
  return storj
}

/** Ends with the test. */
export async function openTestStorj(options?: Partial<StorjServerOptions>) {
  const storj = await startTestStorj(options)
  onTestFinished(() => storj.close())
  return storj
}
