// Object stores that speak the protocols of providers, and the settings of a gateway that uses one.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { startS3BucketServer } from '@svc/devnet/providers/s3-bucket/start'
import { gcsUrl, s3Url } from '@svc/devnet/providers/store-urls'
import type { Variables } from '@svc/service/program/config'
import { onTestFinished } from 'vitest'

/** Each starts a store that stops with the test. */
export const stores: Record<string, (redirect?: string) => Promise<Variables>> = {
  async gcs(redirect = 'all') {
    const server = await startGcsServer({ folder: await newFolder() })
    onTestFinished(server.stop)
    return { GCS: gcsUrl(server, { redirect }) }
  },
  async storj(redirect = 'all') {
    const server = await startS3BucketServer({ folder: await newFolder() })
    onTestFinished(server.stop)
    return { STORJ: s3Url(server, `?redirect=${redirect}`) }
  },
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-store-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}
