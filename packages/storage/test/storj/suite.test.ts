// With TEST_STORJ, which is what the setting STORJ is, the suite also runs on that bucket. Give it a prefix, as in
// `svc-test/`: the objects there may be deleted.

import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
import { PROVIDER_SETTINGS } from '../../src/drivers.ts'
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

const { TEST_STORJ } = process.env
if (TEST_STORJ) {
  describeProvider('Storj itself', async () => {
    const settings = readStorjSettings(new SettingsReader({ STORJ: TEST_STORJ }, PROVIDER_SETTINGS))
    return { provider: await openStorj(settings!), close: async () => {} }
  })
}
