// The emulator accepts documents of any size. This checks their size with a library that counts like Firestore.

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { FirestoreMock } from '@firebase-bridge/firestore-admin'
import { startFirestoreServer } from '@svc/devnet/providers/firestore/start'
import { expect, it, onTestFinished } from 'vitest'
import { openFirestore } from '../../src/firestore/open.ts'

it('Firestore accepts the size of every document that the Firestore driver writes', { tags: ['nightly'] }, async () => {
  const server = await startFirestoreServer()
  onTestFinished(server.stop)
  const settings = { project: 'svc-test', database: '(default)', collection: 'c'.repeat(100), credentials: null }
  const provider = await openFirestore({ ...settings, emulator: server.address, maxObjectBytes: 10_000_000 })
  onTestFinished(provider.close)
  const about = { contentType: 'text/plain', size: null }
  await provider.write('ab'.repeat(16), Readable.from([randomBytes(3_000_000)], { objectMode: false }), about)

  const strict = new FirestoreMock().createDatabase().firestore()
  const documents = await server.documents()
  expect(documents).toHaveLength(5)
  for (const { path, fields } of documents) {
    const { data, ...others } = fields
    await strict.doc(path).set({ ...others, ...(data !== undefined && { data: Buffer.alloc(Number(data)) }) })
  }
  const tooLarge = strict.doc(documents[0]!.path).set({ data: Buffer.alloc(1_048_487) })
  await expect(tooLarge).rejects.toThrow('1048576 bytes')
})
