// Where TEST_FILECOIN_PDP_URL is set, the suite of all drivers is also run on that provider, with TEST_FILECOIN_KEY and
// whatever else the settings of Filecoin need, each with `TEST_` before it. What the tests bring there stays there, and
// is paid for until somebody removes it.

import { rm } from 'node:fs/promises'
import { SettingsReader } from '@svc/http-service/config'
import { openFilecoin } from '../../src/filecoin/open.ts'
import { readFilecoinSettings } from '../../src/filecoin/settings.ts'
import { openLocalProvider } from '../../src/local/open.ts'
import type { StorageProvider } from '../../src/provider.ts'
import type { SlowStore } from '../../src/slow-store.ts'
import { openStagedProvider } from '../../src/staged.ts'
import { startTestFilecoin } from './start-filecoin.ts'
import { makeFolder } from '../local/open-folder.ts'
import { describeProvider } from '../provider-suite.ts'
import { settleStaged } from '../slow-store.ts'

/** To compute commitments of all that the suite writes would take most of its time: larger objects stay staged. */
const SETTLES_UP_TO = 4 * 1024 * 1024

/** Objects settle at once, and are read from the provider then. */
async function openSettled(slow: SlowStore, close: () => Promise<void>) {
  const folder = await makeFolder()
  const staging = await openLocalProvider({ folder })
  const staged = openStagedProvider({ staging, slow, findRefs: async () => new Map() })
  const provider: StorageProvider = {
    ...staged,
    async write(id, bytes, about) {
      const { size } = await staged.write(id, bytes, about)
      if (size > SETTLES_UP_TO) return { size, ref: null }
      const ref = await settleStaged(slow, staging, id)
      await staging.remove({ id, ref: null })
      return { size, ref }
    },
  }
  return {
    provider,
    async close() {
      await rm(folder, { recursive: true })
      await close()
    },
  }
}

describeProvider('the driver of Filecoin', async () => {
  const { store, close } = await startTestFilecoin()
  return openSettled(store, close)
})

const real = Object.entries(process.env).filter(([name]) => name.startsWith('TEST_FILECOIN_'))
if (process.env.TEST_FILECOIN_PDP_URL) {
  describeProvider('Filecoin itself', async () => {
    const variables = Object.fromEntries(real.map(([name, value]) => [name.slice('TEST_'.length), value]))
    const settings = readFilecoinSettings(new SettingsReader(variables))
    return openSettled(await openFilecoin(settings!), async () => {})
  })
}
