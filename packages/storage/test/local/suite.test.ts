import { mkdir, readdir, readFile, rm, stat, symlink, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from 'vitest'
import { openLocalProvider } from '../../src/local/open.ts'
import type { ObjectKey, StorageProvider } from '../../src/provider.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { knownBytes } from '../programs/known-bytes.ts'
import { describeProvider } from '../provider-suite.ts'
import { makeFolder, openFilesOf, openTestFolder, type TestFolder } from './open-folder.ts'

const MIB = 1024 * 1024
const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }
/** The driver looks them up in two ways, depending on their number. */
const fewAndMany = (key: ObjectKey) => [[key], Array<ObjectKey>(2000).fill(key)]

describeProvider('the local driver', async () => {
  const folder = await makeFolder()
  return {
    provider: await openLocalProvider({ folder }),
    async close() {
      expect(await openFilesOf(folder)).toEqual([])
      expect(await readdir(join(folder, 'incoming'))).toEqual([])
      await rm(folder, { recursive: true })
    },
  }
})

describe('the local driver', () => {
  let at: TestFolder
  let folder: string
  let provider: StorageProvider
  beforeEach(async () => {
    at = await openTestFolder()
    folder = at.folder
    provider = at.provider
  })

  it('creates private folders at the start, and finds its objects after a restart', async () => {
    const nested = join(folder, 'a', 'b')
    const { id } = await keep(await openLocalProvider({ folder: nested }), Buffer.from('kept'))
    const prefixes = await readdir(join(nested, 'objects'))
    expect(prefixes.sort()).toEqual(Array.from({ length: 256 }, (_, i) => Buffer.of(i).toString('hex')))
    const modes = ['', 'objects', 'incoming', `objects/${id.slice(0, 2)}`, `objects/${id.slice(0, 2)}/${id}`].map(
      async (path) => ((await stat(join(nested, path))).mode & 0o777).toString(8),
    )
    expect(await Promise.all(modes)).toEqual(['700', '700', '700', '700', '600'])
    const again = await openLocalProvider({ folder: `${nested}/` })
    expect(await fetchBytes(again, { id, ref: null })).toEqual(Buffer.from('kept'))
  })

  it('follows no symbolic link out of its folder', async () => {
    const outside = join(folder, 'outside')
    await writeFile(outside, 'a secret')
    const id = newId()
    const key = { id, ref: null }
    await symlink(outside, at.objectPath(id))
    await expect(provider.read(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
    for (const keys of fewAndMany(key)) await expect(provider.absent(keys)).rejects.toMatchObject(UNAVAILABLE)
    await expect(keep(provider, Buffer.from('new'), id)).rejects.toThrow('an object with this id already exists')
    await provider.remove(key)
    await symlink(outside, at.incomingPath(id))
    await expect(keep(provider, Buffer.from('new'), id)).rejects.toThrow('an object with this id already exists')
    await provider.remove(key)
    expect(await readFile(outside, 'utf8')).toBe('a secret')
    expect(await fetchBytes(provider, await keep(provider, Buffer.from('new'), id))).toEqual(Buffer.from('new'))

    await rm(join(folder, 'objects', '7f'), { recursive: true })
    await symlink(tmpdir(), join(folder, 'objects', '7f'))
    await expect(openLocalProvider({ folder })).rejects.toThrow('is not a folder')
  })

  it('reads an object to its end when it is removed meanwhile', async () => {
    const key = await keep(provider, knownBytes('fffff'))
    const stream = (await provider.read(key))!
    await provider.remove(key)
    expect(await provider.stat(key)).toBeNull()
    expect(knownBytes('fffff').equals(await buffer(stream))).toBe(true)
  })

  it('does not restore an object that is removed while it is written', async () => {
    const id = newId()
    async function* pieces() {
      yield Buffer.alloc(MIB)
      await provider.remove({ id, ref: null })
      yield Buffer.alloc(MIB)
    }
    const source = Readable.from(pieces(), { objectMode: false })
    await expect(provider.write(id, source, { contentType: 'a/b', size: null })).rejects.toMatchObject(UNAVAILABLE)
    expect(await at.objects()).toEqual([])
  })

  it('fails when an object has become shorter', async () => {
    const key = await keep(provider, Buffer.alloc(3 * MIB))
    const stream = (await provider.read(key))!
    await truncate(at.objectPath(key.id), MIB)
    await expect(buffer(stream)).rejects.toMatchObject(UNAVAILABLE)
    expect(await at.openFiles()).toEqual([])
  })

  it('distinguishes a lost disk from a missing object', async () => {
    const key = await keep(provider, Buffer.from('here'))
    await rm(folder, { recursive: true })
    await mkdir(folder)
    await expect(provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(provider.read(key)).rejects.toMatchObject(UNAVAILABLE)
    for (const keys of fewAndMany(key)) await expect(provider.absent(keys)).rejects.toMatchObject(UNAVAILABLE)
    await expect(provider.remove(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(keep(provider, Buffer.from('more'))).rejects.toMatchObject(UNAVAILABLE)
    expect(await provider.check()).toBe(false)
    expect(await readdir(folder)).toEqual([])
  })

  it('removes leftovers of the day before at the start, and not the files of running writes', async () => {
    const [old, fresh] = [newId(), newId()]
    const twoDaysAgo = new Date(Date.now() - 2 * 24 * 3600 * 1000)
    for (const id of [old, fresh]) await writeFile(at.incomingPath(id), 'half')
    await utimes(at.incomingPath(old), twoDaysAgo, twoDaysAgo)
    const { id } = await keep(provider, Buffer.from('kept'))
    await utimes(at.objectPath(id), twoDaysAgo, twoDaysAgo)
    const reopened = await openLocalProvider({ folder })
    expect(await at.incoming()).toEqual([fresh])
    expect(await fetchBytes(reopened, { id, ref: null })).toEqual(Buffer.from('kept'))
  })
})
