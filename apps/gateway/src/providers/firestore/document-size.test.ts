// The emulator takes documents of any size; Firestore takes 1 MiB.

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keep } from '../test-objects.ts'
import { CHUNK_BYTES } from './pour.ts'
import { startTestFirestore, type TestFirestore } from './test-firestore.ts'

const MAX_DOCUMENT_BYTES = 1_048_576

let at: TestFirestore
beforeAll(async () => {
  at = await startTestFirestore()
})
afterAll(() => at.stop())

it('no document is larger than Firestore takes, with the longest names there can be', async () => {
  const collection = 'c'.repeat(100)
  const provider = await at.open({ collection, project: `example.com:${'p'.repeat(30)}`, database: 'd'.repeat(63) })
  const { id } = await keep(provider, randomBytes(3 * CHUNK_BYTES + 5))
  const documents = (await at.server.documents()).filter(({ path }) => path.includes(id))
  expect(documents).toHaveLength(5)
  for (const { path, fields } of documents) {
    // As Firestore counts: 16 for the name, each word of it and each field with one more, 32 for the document.
    const words = path.split('/').reduce((sum, word) => sum + word.length + 1, 16)
    const values = Object.entries(fields).reduce(
      (sum, [name, value]) => sum + name.length + 1 + lengthOf(name, value),
      32,
    )
    expect(words + values).toBeLessThan(MAX_DOCUMENT_BYTES)
  }
  expect(Math.max(...(await at.server.encodedLengths()))).toBeLessThan(MAX_DOCUMENT_BYTES)
  const chunks = documents.map(({ fields }) => Number(fields.data ?? 0)).sort((a, b) => b - a)
  expect(chunks).toEqual([CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES, 5, 0])
})

function lengthOf(name: string, value: unknown): number {
  if (name === 'data') return Number(value) // told by its length
  return typeof value === 'string' ? value.length + 1 : 8
}
