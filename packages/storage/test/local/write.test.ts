import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { batchSource } from '../../src/batches.ts'
import { writeStream } from '../../src/local/write.ts'
import { ProviderError } from '../../src/provider.ts'
import { streamOf } from '../objects.ts'

async function fullDevice() {
  const file = await open('/dev/full', 'w')
  onTestFinished(() => file.close())
  return file
}

it('the local driver reports a full disk as full, and does not destroy the source', async () => {
  const source = streamOf(Buffer.alloc(5_000_000))
  const failure: unknown = await writeStream(batchSource(source), await fullDevice(), null).catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  expect(failure).toMatchObject({ reason: 'full', cause: { code: 'ENOSPC' } })
  expect(source.destroyed).toBe(false)
})

it('the local driver rethrows an error of the source that looks like a disk error', async () => {
  const failure = Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' })
  const source = new Readable({ read: () => source.destroy(failure) })
  await expect(writeStream(batchSource(source), await fullDevice(), null)).rejects.toBe(failure)
})
