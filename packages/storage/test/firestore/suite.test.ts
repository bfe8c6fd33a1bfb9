// With TEST_FIRESTORE_PROJECT the suite also runs on the database TEST_FIRESTORE_DATABASE of that project ((default)
// without it), with the key in TEST_FIRESTORE_CREDENTIALS_FILE or the credentials of this machine. The documents in the
// collection `svc-test` may be deleted.

import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { SettingsReader } from '@svc/service/program/config'
import { expect } from 'vitest'
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

const { TEST_FIRESTORE_PROJECT, TEST_FIRESTORE_DATABASE, TEST_FIRESTORE_CREDENTIALS_FILE } = process.env
if (TEST_FIRESTORE_PROJECT) {
  describeProvider('Firestore itself', async () => {
    const settings = readFirestoreSettings(
      new SettingsReader({
        FIRESTORE_PROJECT: TEST_FIRESTORE_PROJECT,
        FIRESTORE_DATABASE: TEST_FIRESTORE_DATABASE,
        FIRESTORE_CREDENTIALS_FILE: TEST_FIRESTORE_CREDENTIALS_FILE,
        FIRESTORE_COLLECTION: 'svc-test',
        FIRESTORE_MAX_OBJECT_BYTES: String(128 * 1024 * 1024),
      }),
    )
    const provider = await openFirestore(settings!)
    return { provider, close: provider.close }
  })
}
