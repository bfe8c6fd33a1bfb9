import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type S3BucketServerOptions, startS3BucketServer } from '@svc/devnet/providers/s3-bucket/start'
import { onTestFinished } from 'vitest'
import { openS3Bucket } from '../../src/s3-bucket/open.ts'
import type { S3BucketSettings } from '../../src/s3-bucket/settings.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../../src/timeouts.ts'

export type TestBucket = Awaited<ReturnType<typeof startTestBucket>>

/** Almost without pauses between attempts. */
const QUICK: HttpTimeouts = { ...HTTP_TIMEOUTS, backoffMs: 1 }

export async function startTestBucket(options: Partial<S3BucketServerOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bucket-'))
  const server = await startS3BucketServer({ folder, ...options })
  const { url, bucket, credentials } = server
  const settings: S3BucketSettings = {
    title: 'Storj',
    ...credentials,
    endpoint: url,
    bucket,
    prefix: 'test/',
    redirect: 'off',
  }
  const storj = {
    server,
    provider: await openS3Bucket(settings, QUICK),
    /** Opens another driver on the same store. */
    open: (changed?: Partial<S3BucketSettings>, timeouts?: Partial<HttpTimeouts>) =>
      openS3Bucket({ ...settings, ...changed }, { ...QUICK, ...timeouts }),
    /** Stops the store and starts it again, with its objects, at the same address. */
    async restart() {
      await storj.server.stop()
      storj.server = await startS3BucketServer({ folder, ...options, port: server.port })
    },
    /** Files of incomplete objects and parts, being written or left over. */
    incoming: () => readdir(join(folder, 'incoming')),
    async close() {
      await storj.server.stop()
      await rm(folder, { recursive: true })
    },
  }
  return storj
}

/** Ends with the test. */
export async function openTestBucket(options?: Partial<S3BucketServerOptions>) {
  const storj = await startTestBucket(options)
  onTestFinished(() => storj.close())
  return storj
}
