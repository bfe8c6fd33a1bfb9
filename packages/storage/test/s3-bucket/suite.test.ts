import { expect } from 'vitest'
import { openS3Bucket } from '../../src/s3-bucket/open.ts'
import { describeProvider } from '../provider-suite.ts'
import { describeReal } from '../real-provider.ts'
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

describeReal('storj', async (settings, place) => ({
  provider: await openS3Bucket({ ...settings, prefix: `${settings.prefix}${place}/`, redirect: 'off' }),
  close: async () => {},
}))
