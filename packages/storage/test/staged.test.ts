import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openLocalProvider } from '../src/local/open.ts'
import type { StorageProvider } from '../src/provider.ts'
import type { SlowStore } from '../src/slow-store.ts'
import { openStagedProvider } from '../src/staged.ts'
import { makeFolder, openTestFolder, type TestFolder } from './local/open-folder.ts'
import { fetchBytes, keep, newId } from './objects.ts'
import { describeProvider } from './provider-suite.ts'
import { type SlowServer, startSlowServer } from './slow-server.ts'
import { deliverStaged, openTestSlowStore } from './slow-store.ts'

const UNAVAILABLE = { name: 'ProviderError', reason: 'unavailable' }

const openStaged = async () => {
  const folder = await makeFolder()
  const server = await startSlowServer()
  const staging = await openLocalProvider({ folder })
  return {
    provider: openStagedProvider({ staging, slow: openTestSlowStore(server.url), findRefs: async () => new Map() }),
    async close() {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  }
}
describeProvider('a staged provider', openStaged, { isStaged: true })

describe('a staged provider', () => {
  let at: TestFolder
  let server: SlowServer
  let slow: SlowStore
  let provider: StorageProvider
  const refs = new Map<string, string>()
  beforeEach(async () => {
    at = await openTestFolder()
    server = await startSlowServer()
    onTestFinished(() => server.stop())
    slow = { ...openTestSlowStore(server.url), maxBytes: 1000 }
    provider = openStagedProvider({ staging: at.provider, slow, findRefs: async () => refs })
  })

  it('stores and returns bytes while its slow store is down', async () => {
    server.isDown = true
    const bytes = randomBytes(500)
    const key = await keep(provider, bytes)
    expect(key.ref).toBeNull()
    expect(await at.objects()).toEqual([key.id])
    expect(await fetchBytes(provider, key, { start: 10, end: 19 })).toEqual(bytes.subarray(10, 20))
    expect(await provider.stat(key)).toEqual({ size: 500 })
    expect(await provider.absent([key])).toEqual(new Set())
    expect(await provider.check()).toBe(false)
    server.isDown = false
    expect(await provider.check()).toBe(true)
    await rm(at.folder, { recursive: true })
    expect(await provider.check()).toBe(false)
  })

  it('accepts only objects that both the folder and the slow store accept', () => {
    expect(provider.maxBytes).toBe(1000)
    const staging = { ...at.provider, maxBytes: 10 }
    expect(openStagedProvider({ staging, slow, findRefs: async () => refs }).maxBytes).toBe(10)
  })

  it('reads delivered objects from the slow store, also with a key from before their delivery', async () => {
    const bytes = randomBytes(500)
    const before = await keep(provider, bytes)
    const ref = await deliverStaged(slow, at.provider, before.id)
    await at.provider.remove(before)
    expect(await fetchBytes(provider, before)).toBeNull()
    refs.set(before.id, ref)
    for (const key of [before, { id: before.id, ref }]) {
      expect(await fetchBytes(provider, key)).toEqual(bytes)
      expect(await fetchBytes(provider, key, { start: 499, end: 499 })).toEqual(bytes.subarray(499))
      expect(await provider.stat(key)).toEqual({ size: 500 })
      expect(await provider.absent([key])).toEqual(new Set())
    }
    server.isDown = true
    for (const key of [before, { id: before.id, ref }]) {
      await expect(provider.read(key)).rejects.toMatchObject(UNAVAILABLE)
      await expect(provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
      await expect(provider.absent([key])).rejects.toMatchObject(UNAVAILABLE)
    }
  })

  it('finds the absent ones of many objects in both places', async () => {
    const staged = await keep(provider, randomBytes(10))
    const delivered = await keep(provider, randomBytes(10))
    const ref = await deliverStaged(slow, at.provider, delivered.id)
    await at.provider.remove(delivered)
    const never = Array.from({ length: 50 }, () => ({ id: newId(), ref: null }))
    const lost = { id: newId(), ref: 'nowhere' }
    const absent = await provider.absent([staged, ...never, { id: delivered.id, ref }, lost])
    expect(absent).toEqual(new Set([...never, lost].map(({ id }) => id)))
  })

  it('frees the space of a delivered object, and reports it as immutable', async () => {
    const { id } = await keep(provider, Buffer.from('kept'))
    const ref = await deliverStaged(slow, at.provider, id)
    for (const _ of ['once', 'twice']) expect(await provider.remove({ id, ref })).toBe('immutable')
    expect(await at.objects()).toEqual([])
    expect(await fetchBytes(provider, { id, ref })).toEqual(Buffer.from('kept'))
    const other = await keep(provider, Buffer.from('not kept'))
    expect(await provider.remove(other)).toBe('removed')
    expect(await provider.stat(other)).toBeNull()
  })
  // A limit on the length of files replaces a full disk: see durability.test.ts.
  it('rejects writes when its folder is full, and still delivers its objects', async () => {
    const bytes = randomBytes(500)
    const { id } = await keep(provider, bytes)
    const program = fileURLToPath(new URL('./programs/deliver-without-space.ts', import.meta.url))
    const limited = ['-c', 'ulimit -f 8 && exec "$0" "$@"', process.execPath, program]
    const { stdout } = await startProcess('sh', { args: [...limited, at.folder, server.url, id, newId()] }).ended
    const { written, ref, removed } = JSON.parse(stdout)
    expect([written, removed]).toEqual(['full', 'immutable'])
    expect([...(await at.objects()), ...(await at.incoming())]).toEqual([])
    expect(await fetchBytes(provider, { id, ref })).toEqual(bytes)
  })
})
