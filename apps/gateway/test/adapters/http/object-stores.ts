// Object stores that speak the protocols of providers, and the settings of a gateway that uses one.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { startStorjServer } from '@svc/devnet/providers/storj/start'
import type { Variables } from '@svc/service/program/config'
import { onTestFinished } from 'vitest'

/** Each starts a store that stops with the test. */
export const stores: Record<string, (redirect?: string) => Promise<Variables>> = {
  async gcs(redirect = 'all') {
    const { url, bucket, keyFile, stop } = await startGcsServer({ folder: await newFolder() })
    onTestFinished(stop)
    return {
      GCS_BUCKET: bucket,
      GCS_CREDENTIALS: keyFile,
      GCS_ENDPOINT: url,
      GCS_IAM_ENDPOINT: url,
      GCS_REDIRECT: redirect,
    }
  },
  async storj(redirect = 'all') {
    const { url, bucket, credentials, stop } = await startStorjServer({ folder: await newFolder() })
    onTestFinished(stop)
    return {
      STORJ_BUCKET: bucket,
      STORJ_ENDPOINT: url,
      STORJ_ACCESS_KEY_ID: credentials.accessKeyId,
      STORJ_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      STORJ_REDIRECT: redirect,
    }
  },
}

export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-store-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}
