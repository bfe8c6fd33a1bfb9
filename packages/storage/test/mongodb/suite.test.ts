import { startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { MongoClient } from 'mongodb'
import { expect } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import { describeProvider } from '../provider-suite.ts'
import { describeReal } from '../real-provider.ts'
import { CREDENTIALS } from './start-mongodb.ts'

describeProvider('the MongoDB driver', async () => {
  const server = await startMongodbServer({ credentials: CREDENTIALS })
  const provider = await openMongodb({ url: server.url, database: 'svc', bucket: 'objects' })
  return {
    provider,
    async close() {
      const objects = server.documents('svc.objects.files').map(({ _id }) => _id)
      const holders = server.documents('svc.objects.chunks').map(({ files_id }) => files_id)
      expect(holders.filter((id) => !objects.includes(id))).toEqual([])
      await provider.close()
      await server.stop()
    },
  }
})

describeReal('mongodb', async ({ url, database }, bucket) => {
  const provider = await openMongodb({ url, database, bucket })
  return {
    provider,
    async close() {
      await provider.close()
      const client = new MongoClient(url)
      for (const part of ['files', 'chunks']) await client.db(database).dropCollection(`${bucket}.${part}`)
      await client.close()
    },
  }
})
