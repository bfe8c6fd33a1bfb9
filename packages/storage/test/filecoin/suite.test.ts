// With TEST_FILECOIN_PDP_URL the suite also runs on that provider, with TEST_FILECOIN_KEY and the other settings of
// Filecoin, each with the prefix `TEST_`. The objects stay there, and are paid for until they are removed.

import { SettingsReader } from '@svc/service/program/config'
import { openFilecoin } from '../../src/filecoin/open.ts'
import { readFilecoinSettings } from '../../src/filecoin/settings.ts'
import { openDeliveredProvider } from '../delivered-provider.ts'
import { describeProvider } from '../provider-suite.ts'
import { startTestFilecoin } from './start-filecoin.ts'

const open = async () => {
  const { store, close } = await startTestFilecoin()
  return openDeliveredProvider(store, close)
}
describeProvider('the Filecoin driver', open, { isStaged: true })

const real = Object.entries(process.env).filter(([name]) => name.startsWith('TEST_FILECOIN_'))
if (process.env.TEST_FILECOIN_PDP_URL) {
  const openReal = async () => {
    const variables = Object.fromEntries(real.map(([name, value]) => [name.slice('TEST_'.length), value]))
    const settings = readFilecoinSettings(new SettingsReader(variables))
    return openDeliveredProvider(await openFilecoin(settings!), async () => {})
  }
  describeProvider('Filecoin itself', openReal, { isStaged: true })
}
