// Where TEST_ARWEAVE_KEY is set, the suite of all drivers is also run on Arweave itself, with the credit of that key and
// what other TEST_ARWEAVE_ variables say. It takes credit for about 200 MiB, and what it writes stays for good.

import { rm } from 'node:fs/promises'
import { SettingsReader } from '@svc/http-service/config'
import { openArweave } from '../../src/arweave/open.ts'
import { readArweaveSettings } from '../../src/arweave/settings.ts'
import { openLocalProvider } from '../../src/local/open.ts'
import { ProviderError, type StorageProvider } from '../../src/provider.ts'
import type { SlowStore } from '../../src/slow-store.ts'
import { openStagedProvider } from '../../src/staged.ts'
import { settlingObject, startTestArweave } from './start-arweave.ts'
import { makeFolder } from '../local/open-folder.ts'
import { fetchBytes } from '../objects.ts'
import { describeProvider } from '../provider-suite.ts'

/** A provider whose objects have settled when they are written. */
async function settlingAtOnce(slow: SlowStore, stop: () => Promise<void>) {
  const folder = await makeFolder()
  const staging = await openLocalProvider({ folder })
  const staged = openStagedProvider({ staging, slow, findRefs: async () => new Map() })
  const provider: StorageProvider = {
    ...staged,
    async write(id, bytes, about) {
      const { size } = await staged.write(id, bytes, about)
      const stored = (await fetchBytes(staging, { id, ref: null }))!
      const { ref } = await slow.settle(settlingObject(stored, { id, contentType: about.contentType }))
      await staging.remove({ id, ref: null })
      return { size, ref }
    },
  }
  const close = async () => {
    await stop()
    await rm(folder, { recursive: true })
  }
  return { provider, close }
}

describeProvider('the driver of Arweave', async () => {
  const { server, store } = await startTestArweave()
  return settlingAtOnce(store, () => server.stop())
})

const real = Object.entries(process.env).filter(([name]) => name.startsWith('TEST_ARWEAVE_'))
if (process.env.TEST_ARWEAVE_KEY) {
  describeProvider('Arweave itself', async () => {
    const variables = Object.fromEntries(real.map(([name, value]) => [name.slice('TEST_'.length), value]))
    const store = await openArweave(readArweaveSettings(new SettingsReader(variables))!)
    return settlingAtOnce({ ...store, settle: (object) => settleSoon(store, object) }, async () => {})
  })
}

/** Until an item is on the chain for good takes an hour; that it is to be read must do here. */
async function settleSoon(store: SlowStore, object: Parameters<SlowStore['settle']>[0]): Promise<{ ref: string }> {
  let ref = ''
  const note = async (notes: unknown) => {
    ref = (notes as { id: string }).id // of the driver's own notes
  }
  try {
    return await store.settle({ ...object, note })
  } catch (error) {
    const isThere = error instanceof ProviderError && (await store.stat(ref))?.size === object.size
    if (isThere) return { ref }
    throw error
  }
}
