import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GcsServer, type GcsServerOptions, startGcsServer } from '@svc/devnet/providers/gcs/start'
import { openGcs } from '../../src/gcs/open.ts'
import type { GcsSettings } from '../../src/gcs/settings.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../../src/timeouts.ts'

/** Almost without pauses between attempts. */
const QUICK: HttpTimeouts = { ...HTTP_TIMEOUTS, backoffMs: 2, giveUpMs: 30_000 }

export type TestGcs = Awaited<ReturnType<typeof startTestGcs>>

export async function startTestGcs(options: Partial<GcsServerOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-gcs-'))
  let server = await startGcsServer({ ...options, folder })
  /** Opens another driver on the same bucket. */
  const open = (settings?: Partial<GcsSettings>, timeouts?: Partial<HttpTimeouts>) =>
    openGcs({ ...settingsFor(server), ...settings }, { ...QUICK, ...timeouts })
  const provider = await open()
  return {
    get server() {
      return server
    },
    provider,
    open,
    /** Starts another server at the same address, with the same folder. */
    async restart() {
      await server.stop()
      server = await startGcsServer({ ...options, folder, port: server.port })
      await provider.check() // the new server does not know the old server's tokens
    },
    async close() {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  }
}

export function settingsFor({ url, bucket, keyFile }: GcsServer): GcsSettings {
  const credentials = JSON.parse(keyFile)
  return { bucket, prefix: 'test/', credentials, endpoint: url, iamEndpoint: url, redirect: 'off' }
}
