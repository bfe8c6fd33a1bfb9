// With TEST_ARWEAVE_KEY the suite also runs on Arweave itself, with the credit of that key and the other TEST_ARWEAVE_
// variables. It costs credit for about 200 MiB, and the objects cannot be removed.

import { SettingsReader } from '@svc/service/program/config'
import { openArweave } from '../../src/arweave/open.ts'
import { readArweaveSettings } from '../../src/arweave/settings.ts'
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

const real = Object.entries(process.env).filter(([name]) => name.startsWith('TEST_ARWEAVE_'))
if (process.env.TEST_ARWEAVE_KEY) {
  const openReal = async () => {
    const variables = Object.fromEntries(real.map(([name, value]) => [name.slice('TEST_'.length), value]))
    const store = await openArweave(readArweaveSettings(new SettingsReader(variables))!)
    return openDeliveredProvider({ ...store, deliver: (object) => deliverSoon(store, object) }, async () => {})
  }
  describeProvider('Arweave itself', openReal, { isStaged: true })
}

/** It takes an hour until an item is permanently on the chain; here it suffices that it can be read. */
async function deliverSoon(store: SlowStore, object: Parameters<SlowStore['deliver']>[0]): Promise<{ ref: string }> {
  let ref = ''
  const note = async (notes: unknown) => {
    ref = (notes as { id: string }).id // of the driver's own notes
  }
  try {
    return await store.deliver({ ...object, note })
  } catch (error) {
    const isThere = error instanceof ProviderError && (await store.stat(ref))?.size === object.size
    if (isThere) return { ref }
    throw error
  }
}
