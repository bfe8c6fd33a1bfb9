import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { expect } from 'vitest'
import { openFirestore } from '../../src/firestore/open.ts'
import { describeProvider } from '../provider-suite.ts'
import { describeReal } from '../real-provider.ts'
import { MIB, settingsFor } from './start-firestore.ts'

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

describeReal('firestore', async (settings, collection) => {
  const provider = await openFirestore({ ...settings, collection, maxObjectBytes: 128 * MIB })
  return { provider, close: provider.close }
})
