// With TEST_GCS, in the format of the setting GCS, the suite also runs on that bucket. Give it a prefix, such as
// `svc-test/`: the objects there may be deleted.

import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
import { PROVIDER_SETTINGS } from '../../src/drivers.ts'
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

const { TEST_GCS } = process.env
if (TEST_GCS) {
  describeProvider('Google Cloud Storage itself', async () => {
    const settings = readGcsSettings(new SettingsReader({ GCS: TEST_GCS }, PROVIDER_SETTINGS))
    return { provider: await openGcs(settings!), close: async () => {} }
  })
}
