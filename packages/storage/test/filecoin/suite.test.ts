// With TEST_FILECOIN, in the format of the setting FILECOIN, the suite also runs on that provider. The objects stay
// there, and are paid for until they are removed.

import { SettingsReader } from '@svc/service/program/config'
import { PROVIDER_SETTINGS } from '../../src/drivers.ts'
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

const { TEST_FILECOIN } = process.env
if (TEST_FILECOIN) {
  const openReal = async () => {
    const settings = readFilecoinSettings(new SettingsReader({ FILECOIN: TEST_FILECOIN }, PROVIDER_SETTINGS))
    return openDeliveredProvider(await openFilecoin(settings!), async () => {})
  }
  describeProvider('Filecoin itself', openReal, { isStaged: true })
}
