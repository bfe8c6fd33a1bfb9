import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { gather } from '../../src/batches.ts'
import { pour } from '../../src/local/pour.ts'
import { ProviderError } from '../../src/provider.ts'
import { streamOf } from '../objects.ts'

async function fullDevice() {
  const file = await open('/dev/full', 'w')
  onTestFinished(() => file.close())
  return file
}

it('a disk without room is full, and the source is left to its owner', async () => {
  const source = streamOf(Buffer.alloc(5_000_000))
  const failure: unknown = await pour(gather(source), await fullDevice(), null).catch((error) => error)
  expect(failure).toBeInstanceOf(ProviderError)
  expect(failure).toMatchObject({ reason: 'full', cause: { code: 'ENOSPC' } })
  expect(source.destroyed).toBe(false)
})

it('an error of the source that looks like one of the disk stays what it is', async () => {
  const failure = Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' })
  const source = new Readable({ read: () => source.destroy(failure) })
  await expect(pour(gather(source), await fullDevice(), null)).rejects.toBe(failure)
})
