// With TEST_STORJ, in the format of the setting STORJ, the suite also runs on that bucket. Give it a prefix, such as
// `svc-test/`: the objects there may be deleted.

import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
import { PROVIDER_SETTINGS } from '../../src/drivers.ts'
import { openS3Bucket } from '../../src/s3-bucket/open.ts'
import { readS3BucketSettings } from '../../src/s3-bucket/settings.ts'
import { describeProvider } from '../provider-suite.ts'
import { startTestBucket } from './start-bucket.ts'

describeProvider('the S3 bucket driver', async () => {
  const { server, provider, incoming, close } = await startTestBucket()
  return {
    provider,
    async close() {
      expect([server.uploads(), await incoming()]).toEqual([[], []])
      await close()
    },
  }
})

const { TEST_STORJ } = process.env
if (TEST_STORJ) {
  describeProvider('Storj itself', async () => {
    const settings = readS3BucketSettings(new SettingsReader({ STORJ: TEST_STORJ }, PROVIDER_SETTINGS), 'storj')
    return { provider: await openS3Bucket(settings!), close: async () => {} }
  })
}
