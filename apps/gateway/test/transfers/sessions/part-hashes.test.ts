import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createPartHashes } from '../../../src/transfers/sessions/part-hashes.ts'
import { sha256 } from '../transfers.ts'

it('T-11 short parts that are ahead of their turn are kept as long as their memory allows, and read again otherwise', {
  tags: ['nightly'],
}, async () => {
  const hashes = createPartHashes()
  const contents = Array.from({ length: 200 }, (_, i) => `part ${i} `)
  for (const index of [...contents.keys()].reverse()) {
    const part = hashes.along('file', index, Readable.from([Buffer.from(contents[index]!)]), () => {})
    await buffer(part.bytes)
    await part.stored()
    part.close()
  }
  const parts = contents.map((content) => ({ sha256: sha256(content) }))
  const readFrom: number[] = []
  const hash = await hashes.ofFile('file', parts, async (index) => {
    readFrom.push(index)
    return Readable.from([Buffer.from(contents.slice(index).join(''))])
  })
  expect(hash).toBe(`sha256:${sha256(contents.join(''))}`)
  expect(readFrom).toEqual([expect.any(Number)])
})
