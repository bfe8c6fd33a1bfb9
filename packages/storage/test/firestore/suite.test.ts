// With TEST_FIRESTORE, in the format of the setting FIRESTORE, the suite also runs on that database, with objects of up
// to 128 MiB. Give it a separate collection, such as `svc-test`: the documents there may be deleted.

import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
import { PROVIDER_SETTINGS } from '../../src/drivers.ts'
import { openFirestore } from '../../src/firestore/open.ts'
import { readFirestoreSettings } from '../../src/firestore/settings.ts'
import { describeProvider } from '../provider-suite.ts'
import { settingsFor } from './start-firestore.ts'

describeProvider('the Firestore driver', async () => {
  const server = await startFirestoreServer()
  const provider = await openFirestore(settingsFor(server.directAddress))
  return {
    provider,
    async close() {
      const documents = (await server.documents()).map(({ path }) => path.split('/'))
      const objects = documents.filter(({ length }) => length === 2).map(([, id]) => id)
      const holders = documents.filter(({ length }) => length === 4).map(([, id]) => id)
      expect(holders.filter((id) => !objects.includes(id))).toEqual([])
      await provider.close()
      await server.stop()
    },
  }
})

const { TEST_FIRESTORE } = process.env
if (TEST_FIRESTORE) {
  describeProvider('Firestore itself', async () => {
    const settings = readFirestoreSettings(new SettingsReader({ FIRESTORE: TEST_FIRESTORE }, PROVIDER_SETTINGS))
    const provider = await openFirestore(settings!)
    return { provider, close: provider.close }
  })
}
