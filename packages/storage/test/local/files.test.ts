import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openFolderFiles } from '../../src/local/files.ts'
import { ProviderError } from '../../src/provider.ts'
import { openTestFolder } from './open-folder.ts'

it('LOG-02 named files of any size are read completely, and none stays open', async () => {
  const { folder, openFiles } = await openTestFolder()
  const files = openFolderFiles(folder)
  for (const size of [0, 1, 8192, 9215, 9216, 9217, 100_000]) {
    const bytes = randomBytes(size)
    await files.write(`tile/${size}`, bytes)
    expect(Buffer.from((await files.read(`tile/${size}`))!)).toEqual(bytes)
  }
  expect(await files.read('tile/2')).toBeNull()
  await mkdir(join(folder, 'tile/folder'))
  await expect(files.read('tile/folder')).rejects.toThrow(ProviderError)
  await writeFile(join(folder, 'file'), '')
  await expect(files.read('file/below')).rejects.toThrow(ProviderError)
  expect(await openFiles()).toEqual([])
})
