import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../src/provider.ts'
import { keep, newId } from '../objects.ts'
import { startTestGcs, type TestGcs } from './start-gcs.ts'

/** The fewest names on a page that make listing worthwhile. */
const PAGE = 30

let gcs: TestGcs
let there: ObjectKey[]
const gone = Array.from({ length: 100 }, () => ({ id: newId(), ref: null }))
const goneIds = new Set(gone.map(({ id }) => id))

beforeAll(async () => {
  gcs = await startTestGcs({ pageSize: PAGE })
  there = await Promise.all(Array.from({ length: 300 }, () => keep(gcs.provider, Buffer.of(1))))
})
afterAll(() => gcs.close())

async function requestsOf(keys: ObjectKey[]) {
  const before = gcs.server.requests.length
  const absent = await gcs.provider.absent(keys)
  const requests = gcs.server.requests.slice(before)
  return { absent, lists: requests.filter((line) => line.includes('startOffset')).length, count: requests.length }
}

describe('the absent objects of Google Cloud Storage', () => {
  it('are found by listing when most listed objects are wanted', async () => {
    const { absent, lists, count } = await requestsOf([...there, ...gone])
    expect(absent).toEqual(goneIds)
    expect(lists).toBeLessThanOrEqual(300 / PAGE + 8)
    expect(count - lists).toBeLessThanOrEqual(8 * 20)
  })

  it('are looked up one by one when few listed objects are wanted', async () => {
    const asked = [...there.slice(0, 12), ...gone.slice(0, 12)]
    const { absent, lists, count } = await requestsOf(asked)
    expect(absent).toEqual(new Set(gone.slice(0, 12).map(({ id }) => id)))
    expect(lists).toBeLessThanOrEqual(8)
    expect(count).toBeLessThanOrEqual(asked.length + 8)
  })

  it('are not confused with other objects in the bucket', async () => {
    const elsewhere = await gcs.open({ prefix: 'test/other/' })
    await Promise.all(gone.slice(0, 50).map(({ id }) => keep(elsewhere, Buffer.of(2), id)))
    expect((await requestsOf([...there, ...gone])).absent).toEqual(goneIds)
    expect(await elsewhere.absent([...there, ...gone])).toEqual(
      new Set([...there, ...gone.slice(50)].map(({ id }) => id)),
    )
  })

  it('are unknown when a single request fails', async () => {
    gcs.server.fail({ at: /startOffset/, fault: { status: 403, reason: 'forbidden' } })
    await expect(gcs.provider.absent([...there, ...gone])).rejects.toMatchObject({ reason: 'closed' })
    gcs.server.recover()
    gcs.server.fail({ at: new RegExp(there[0]!.id), fault: { status: 500 } })
    await expect(gcs.provider.absent(there.slice(0, 5))).rejects.toMatchObject({ reason: 'unavailable' })
  })
})
