// With TEST_ARWEAVE, in the format of the setting ARWEAVE, the suite also runs on Arweave itself, with the credit of
// its key. It costs credit for about 200 MiB, and the objects cannot be removed.

import { SettingsReader } from '@svc/service/program/config'
import { openArweave } from '../../src/arweave/open.ts'
import { readArweaveSettings } from '../../src/arweave/settings.ts'
import { PROVIDER_SETTINGS } from '../../src/drivers.ts'
import { ProviderError } from '../../src/provider.ts'
import type { SlowStore } from '../../src/slow-store.ts'
import { openDeliveredProvider } from '../delivered-provider.ts'
import { describeProvider } from '../provider-suite.ts'
import { startTestArweave } from './start-arweave.ts'

const open = async () => {
  const { server, store } = await startTestArweave()
  return openDeliveredProvider(store, () => server.stop())
}
describeProvider('the Arweave driver', open, { isStaged: true })

const { TEST_ARWEAVE } = process.env
if (TEST_ARWEAVE) {
  const openReal = async () => {
    const settings = new SettingsReader({ ARWEAVE: TEST_ARWEAVE }, PROVIDER_SETTINGS)
    const store = await openArweave(readArweaveSettings(settings)!)
    return openDeliveredProvider({ ...store, deliver: (object) => deliverSoon(store, object) }, async () => {})
  }
  describeProvider('Arweave itself', openReal, { isStaged: true })
}

/** It takes an hour until an item is permanently on the chain; here it is enough that it can be read. */
async function deliverSoon(store: SlowStore, object: Parameters<SlowStore['deliver']>[0]): Promise<{ ref: string }> {
  let ref = ''
  const saveProgress = async (progress: unknown) => {
    ref = (progress as { id: string }).id // as the driver records it
  }
  try {
    return await store.deliver({ ...object, saveProgress })
  } catch (error) {
    const isThere = error instanceof ProviderError && (await store.stat(ref))?.size === object.size
    if (isThere) return { ref }
    throw error
  }
}
