// With TEST_STORJ_BUCKET the suite also runs on that bucket, with TEST_STORJ_ACCESS_KEY_ID and
// TEST_STORJ_SECRET_ACCESS_KEY, and TEST_STORJ_ENDPOINT and TEST_STORJ_REGION when it is not at Storj itself. Its objects
// are under `svc-test/` and may be deleted.

import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
import { openStorj } from '../../src/storj/open.ts'
import { readStorjSettings } from '../../src/storj/settings.ts'
import { describeProvider } from '../provider-suite.ts'
import { startTestStorj } from './start-storj.ts'

describeProvider('the Storj driver', async () => {
  const { server, provider, incoming, close } = await startTestStorj()
  return {
    provider,
    async close() {
      expect([server.uploads(), await incoming()]).toEqual([[], []])
      await close()
    },
  }
})

const real = Object.entries(process.env).filter(([name]) => name.startsWith('TEST_STORJ_'))
if (process.env.TEST_STORJ_BUCKET) {
  describeProvider('Storj itself', async () => {
    const variables = Object.fromEntries(real.map(([name, value]) => [name.slice('TEST_'.length), value]))
    const settings = readStorjSettings(new SettingsReader({ ...variables, STORJ_PREFIX: 'svc-test/' }))
    return { provider: await openStorj(settings!), close: async () => {} }
  })
}
