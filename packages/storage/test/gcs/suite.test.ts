// With TEST_GCS_BUCKET the suite also runs on that bucket, with the key in TEST_GCS_CREDENTIALS_FILE or the credentials
// of this machine. Its objects are named `svc-test/…` and may be deleted.

import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
import { openGcs } from '../../src/gcs/open.ts'
import { readGcsSettings } from '../../src/gcs/settings.ts'
import { describeProvider } from '../provider-suite.ts'
import { startTestGcs } from './start-gcs.ts'

describeProvider('the Google Cloud Storage driver', async () => {
  const { server, provider, close } = await startTestGcs()
  return {
    provider,
    async close() {
      expect(server.openUploads()).toBe(0)
      await close()
    },
  }
})

const { TEST_GCS_BUCKET, TEST_GCS_CREDENTIALS_FILE } = process.env
if (TEST_GCS_BUCKET) {
  describeProvider('Google Cloud Storage itself', async () => {
    const variables = { GCS_BUCKET: TEST_GCS_BUCKET, GCS_CREDENTIALS_FILE: TEST_GCS_CREDENTIALS_FILE }
    const settings = readGcsSettings(new SettingsReader({ ...variables, GCS_PREFIX: 'svc-test/' }))
    return { provider: await openGcs(settings!), close: async () => {} }
  })
}
