import { beforeEach, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import type { Locker } from '../../src/lockers.ts'
import { newEd25519, useTestbed } from '../lockers.ts'

let client: Client
let locker: Locker
const testbed = useTestbed()
beforeEach(async () => {
  const signer = newEd25519()
  locker = await testbed.locker(signer)
  client = testbed.client({ signer })
  await client.put(locker, 'a', Buffer.from('1'))
  await client.put(locker, 'b', Buffer.from('2'))
})

const names = async () => {
  const all: string[] = []
  for await (const { filename } of client.files(locker)) all.push(filename)
  return all
}

describe('renaming', () => {
  it('ADD-22 renames all files or none', async () => {
    const renames = ['a', 'b'].map((filename) => ({ filename, newFilename: `x/${filename}` }))
    const { files } = await client.rename(locker, renames)
    expect(files).toMatchObject([{ new_filename: 'x/a', replaced: false }, { new_filename: 'x/b' }])
    const onto = [{ filename: 'x/a', newFilename: 'x/b' }]
    await expect(client.rename(locker, onto)).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' })
    expect(await names()).toEqual(['x/a', 'x/b'])
    await client.rename(locker, onto, { overwrite: true })
    expect(await names()).toEqual(['x/b'])
  })

  it('ADD-22 succeeds if the answer was lost and the file has its new name', async () => {
    testbed.proxy.plan(/rename/, { cut: 'answer' })
    const { files } = await client.rename(locker, [{ filename: 'a', newFilename: 'c' }])
    expect(files).toMatchObject([{ filename: 'a', new_filename: 'c', size_bytes: 1 }])
    expect(await names()).toEqual(['b', 'c'])
    await expect(client.rename(locker, [{ filename: 'a', newFilename: 'd' }])).rejects.toMatchObject({
      code: 'FILE_NOT_FOUND',
    })
  })

  it('ADD-22 T-06 refuses an invalid name before any request', async () => {
    testbed.proxy.seen.length = 0
    await expect(client.rename(locker, [{ filename: 'a', newFilename: '../a' }])).rejects.toThrow(RangeError)
    expect(testbed.proxy.seen).toEqual([])
  })
})
