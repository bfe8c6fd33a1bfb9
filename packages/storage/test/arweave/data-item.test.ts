import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { createData, DataItem, SolanaSigner } from '@dha-team/arbundles'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { signItem } from '../../src/arweave/data-item.ts'
import { SEED, stagedObject, type TestObject } from './start-arweave.ts'

const signer = new SolanaSigner(toBase58(Buffer.concat([SEED, ed25519Signer(SEED).publicKey])))

/** The same item, made by another implementation. */
async function referenceItem(object: TestObject): Promise<DataItem> {
  const anchor = createHash('sha256').update(object.id).digest()
  const item = createData(await buffer(await object.open()), signer, {
    anchor: anchor as unknown as string, // the library would convert text to bytes; these are bytes already
    tags: [
      { name: 'Content-Type', value: object.contentType },
      { name: 'App-Name', value: 'svc-storage-gateway' },
    ],
  })
  await item.sign(signer)
  return item
}

it.each([
  [0, 'image/png'],
  [1, 'image/png'],
  [1024 * 1024, 'text/plain; charset=utf-8'],
  [1000, 'a'.repeat(63)],
  [1000, 'a'.repeat(64)],
  [1000, `text/plain; name="${'ä'.repeat(200)}"`],
  [1000, 'x'.repeat(255)],
])('a data item of %i bytes of type %s equals that of another implementation', async (size, contentType) => {
  const bytes = randomBytes(size)
  const object = stagedObject(bytes, { contentType })
  const theirs = await referenceItem(object)
  const ours = await signItem(object, SEED)
  expect(Buffer.concat([ours.header, bytes]).equals(theirs.getRaw())).toBe(true)
  expect([ours.id, ours.size]).toEqual([theirs.id, theirs.getRaw().length])
  expect(await DataItem.verify(Buffer.concat([ours.header, bytes]))).toBe(true)
})

it('signing an object twice produces the same data item, and another object or key a different one', async () => {
  const bytes = randomBytes(1000)
  const object = stagedObject(bytes)
  const { id } = await signItem(object, SEED)
  expect((await signItem(object, SEED)).id).toBe(id)
  expect((await signItem(stagedObject(bytes), SEED)).id).not.toBe(id)
  expect((await signItem(object, randomBytes(32))).id).not.toBe(id)
})

it('a data item does not contain the id of its object, and always has a content type', async () => {
  const object = stagedObject(Buffer.from('bytes'), { contentType: '' })
  const { header } = await signItem(object, SEED)
  const item = new DataItem(header)
  expect(item.tags[0]).toEqual({ name: 'Content-Type', value: 'application/octet-stream' })
  for (const text of [object.id, Buffer.from(object.id, 'hex')]) expect(header.includes(text)).toBe(false)
})

it('T-19 a data item is signed only over the confirmed bytes', async () => {
  const object = stagedObject(Buffer.from('confirmed'))
  const others = stagedObject(Buffer.from('corrupted'))
  const shorter = stagedObject(Buffer.from('confirm'))
  for (const { open } of [others, shorter]) {
    await expect(signItem({ ...object, open }, SEED)).rejects.toMatchObject({ reason: 'unavailable' })
  }
})
