import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { batchSource } from '../../src/batches.ts'
import { writeStream } from '../../src/local/write.ts'
import { ProviderError } from '../../src/provider.ts'
import { fetchBytes, streamOf } from '../objects.ts'
import { openTestFolder } from './open-folder.ts'

function fullDevice() {
  const file = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(file))
  return file
}

it('the local driver reports a full disk as full, and does not destroy the source', async () => {
  const source = streamOf(Buffer.alloc(5_000_000))
  const failure: unknown = await writeStream(batchSource(source), fullDevice(), null).catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  expect(failure).toMatchObject({ reason: 'full', cause: { code: 'ENOSPC' } })
  expect(source.destroyed).toBe(false)
})

it('the local driver rethrows an error of the source that looks like a disk error', async () => {
  const failure = Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' })
  const source = new Readable({ read: () => source.destroy(failure) })
  await expect(writeStream(batchSource(source), fullDevice(), null)).rejects.toBe(failure)
})

it('the local driver frees chunks once they are written, if the source allows it', async () => {
  const { provider } = await openTestFolder()
  const bytes = randomBytes(3_000_000)
  const source = streamOf(bytes, 65_536).map((chunk: Buffer) => Buffer.from(chunk))
  let freed = 0
  const free = (chunks: readonly Buffer[]) => {
    for (const chunk of chunks) freed += chunk.fill(0).length
  }
  const id = 'ab'.repeat(16)
  await provider.write(id, Object.assign(source, { free }), { contentType: 'a/b', size: bytes.length })
  expect(freed).toBe(bytes.length)
  expect((await buffer((await provider.read({ id, ref: null })) as Readable)).equals(bytes)).toBe(true)
})

it.each([
  ['is exact', [0], true],
  ['has other parts between its parts', [0, 2], false],
])(
  'SESS-03 the local driver completes an object that %s again when another process begins it again',
  async (_, indices, isExact) => {
    const { provider, incoming } = await openTestFolder()
    const [id, bytes] = ['cd'.repeat(16), randomBytes(300_000)]
    const begin = () => provider.parts.begin(id, { contentType: 'a/b', partBytes: bytes.length })
    const upload = { id, ref: await begin(), contentType: 'a/b' }
    const write = async (index: number) => {
      const part = { index, size: bytes.length, isLast: false, maxBytes: 1_000_000 }
      return { ...part, ref: (await provider.parts.write(upload, part, streamOf(bytes)))! }
    }
    const [first] = await Promise.all(indices.map(write))
    const completed = (await provider.parts.complete(upload, [first!]))!
    expect(completed.isExact).toBe(isExact)
    await begin()
    expect(await provider.parts.complete(upload, [first!])).toEqual(completed)
    if (isExact) expect((await fetchBytes(provider, { id, ref: null }))!.equals(bytes)).toBe(true)
    await provider.remove({ id, ref: null })
    expect(await incoming()).toEqual([])
  },
)
