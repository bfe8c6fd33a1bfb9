import { expect } from 'vitest'
import { openGcs } from '../../src/gcs/open.ts'
import { describeProvider } from '../provider-suite.ts'
import { describeReal } from '../real-provider.ts'
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

describeReal('gcs', async (settings, place) => ({
  provider: await openGcs({ ...settings, prefix: `${settings.prefix}${place}/`, redirect: 'off' }),
  close: async () => {},
}))
