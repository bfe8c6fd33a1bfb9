import { forEachTest } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../src/provider.ts'
import { keep, newId } from '../objects.ts'
import { startTestBucket } from './start-bucket.ts'

/** Ids of one folder of the store. */
const neighbours = (count: number) => Array.from({ length: count }, () => `ab${newId().slice(2)}`)
const keysOf = (ids: readonly string[]): ObjectKey[] => ids.map((id) => ({ id, ref: null }))

describe('the absent objects of Storj', () => {
  const storj = forEachTest(() => startTestBucket({ pageSize: 10 }))

  async function store(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => keep(storj.provider, Buffer.from('x'), id)))
  }

  /** Finds the absent objects, and counts the requests of each kind. */
  async function ask(ids: readonly string[]): Promise<{ absent: Set<string>; heads: number; lists: number }> {
    const before = storj.server.requests.length
    const absent = await storj.provider.absent(keysOf(ids))
    const lines = storj.server.requests.slice(before)
    const count = (start: string) => lines.filter((line) => line.startsWith(start)).length
    return { absent, heads: count('HEAD /svc-demo-files/'), lists: count('GET ') }
  }

  it('are looked up one by one when few are wanted', async () => {
    const [there, ...missing] = neighbours(3)
    await store([there!])
    expect(await ask([there!, ...missing])).toEqual({ absent: new Set(missing), heads: 3, lists: 0 })
  })

  it('are found by listing when many are wanted, and each is looked up before it counts as absent', async () => {
    const there = neighbours(40)
    const missing = neighbours(2)
    await store(there)
    expect(await ask(there)).toEqual({ absent: new Set(), heads: 0, lists: 4 })
    expect(await ask([...there, ...missing])).toEqual({ absent: new Set(missing), heads: 2, lists: 4 })
  })

  it('are looked up one by one when the credentials do not allow listing', async () => {
    const all = neighbours(8)
    await store(all.slice(1))
    for (const fault of [
      { status: 403, code: 'AccessDenied' },
      { status: 501, code: 'NotImplemented' },
    ]) {
      storj.server.fail({ at: /^GET .*list-type/, fault, times: 1 })
      expect(await ask(all)).toEqual({ absent: new Set([all[0]]), heads: 8, lists: 1 })
    }
  })

  it('are unknown when the store fails, and no further requests are made', async () => {
    const all = Array.from({ length: 2000 }, newId)
    storj.server.fail({ at: /^HEAD/, fault: { status: 403, code: 'AccessDenied' } })
    await expect(storj.provider.absent(keysOf(all))).rejects.toMatchObject({ reason: 'closed' })
    const asked = storj.server.requests.length
    storj.server.recover()
    await expect(storj.provider.absent(keysOf(all.slice(0, 1)))).resolves.toEqual(new Set(all.slice(0, 1)))
    expect(storj.server.requests.length - asked).toBeLessThan(40)
    storj.server.fail({ at: /./, fault: { status: 500, code: 'InternalError' } })
    await expect(storj.provider.absent(keysOf(neighbours(8)))).rejects.toMatchObject({ reason: 'unavailable' })
  })
})
