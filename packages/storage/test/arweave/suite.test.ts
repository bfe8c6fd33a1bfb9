import { openArweave } from '../../src/arweave/open.ts'
import type { ArweaveSettings } from '../../src/arweave/settings.ts'
import { ProviderError } from '../../src/provider.ts'
import type { SlowStore } from '../../src/slow-store.ts'
import { openDeliveredProvider } from '../delivered-provider.ts'
import { describeProvider } from '../provider-suite.ts'
import { describeReal } from '../real-provider.ts'
import { startTestArweave } from './start-arweave.ts'

const open = async () => {
  const { server, store } = await startTestArweave()
  return openDeliveredProvider(store, () => server.stop())
}
describeProvider('the Arweave driver', open, { isStaged: true })

const openReal = async (settings: ArweaveSettings) => {
  const store = await openArweave(settings)
  return openDeliveredProvider({ ...store, deliver: (object) => deliverSoon(store, object) }, async () => {})
}
describeReal('arweave', openReal, { isStaged: true })

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
