import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Journal, memoryJournal } from '../../src/journal.ts'
import type { Locker } from '../../src/lockers.ts'
import type { Signer } from '../../src/signers.ts'
import { errorOf, type House, newEd25519, openHouse } from '../lockers.ts'

const MiB = 1024 * 1024
let house: House
let signer: Signer
let locker: Locker
beforeAll(async () => {
  house = await openHouse({ SESSION_PART_MAX_BYTES: String(4 * MiB) })
  signer = newEd25519()
  locker = await house.locker(signer)
})
afterAll(() => house.close())
beforeEach(() => {
  house.proxy.seen.length = 0
})
afterEach(() => house.proxy.behave())

const requests = (pattern: RegExp) => house.proxy.seen.filter(({ path }) => pattern.test(path)).length
const small = randomBytes(1000)
const large = randomBytes(9 * MiB + 7)

async function stored(filename: string): Promise<Buffer> {
  const response = await fetch(`${house.gateway.url}/v1/r/${locker.receipt_id}/f/${filename}`)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

describe('a broken connection during an upload', () => {
  it.each(['request', 'answer'] as const)('causes one more attempt when the %s is lost', async (cut) => {
    house.proxy.plan(/^\/f\//, { cut })
    house.proxy.plan(/files\/confirm/, { cut })
    await house.client({ signer }).put(locker, 'cut', small)
    expect((await stored('cut')).equals(small)).toBe(true)
    expect(requests(/^\/f\//)).toBe(2)
  })

  it('causes only the affected parts to be sent again', async () => {
    house.proxy.plan(/parts\?index=1&/, { cut: 'request' }, { cut: 'answer' })
    house.proxy.plan(/finalize/, { cut: 'answer' })
    await house.client({ signer }).put(locker, 'cut', large)
    expect((await stored('cut')).equals(large)).toBe(true)
    expect(requests(/parts/)).toBe(5)
  })

  it('FILE-34 SHORT-07 an expired upload URL is renewed', async () => {
    house.proxy.plan(/^\/f\//, refusal(403, 'SHORT_URL_EXPIRED'))
    await house.client({ signer }).put(locker, 'late', small)
    expect(requests(/\/files$/)).toBe(2)
  })
})

describe('an interrupted upload', () => {
  const begin = async (journal: Journal, filename: string) => {
    house.proxy.always(/index=2&/, { cut: 'request' })
    await errorOf(house.client({ signer, journal }).put(locker, filename, large))
    house.proxy.behave()
    house.proxy.seen.length = 0
  }

  it('SESS-02 SESS-04 resumes with the parts that the gateway does not have, even in another process', async () => {
    const journal = memoryJournal()
    await begin(journal, 'resumed')
    await house.client({ signer, journal }).put(locker, 'resumed', new Blob([new Uint8Array(large)]))
    expect((await stored('resumed')).equals(large)).toBe(true)
    expect([requests(/upload-sessions$/), requests(/parts/)]).toEqual([0, 1])
  })

  it('starts over when the bytes have changed', async () => {
    const journal = memoryJournal()
    await begin(journal, 'changed')
    const other = Buffer.from(large)
    other[5] = (other[5] as number) ^ 1
    await house.client({ signer, journal }).put(locker, 'changed', other)
    expect((await stored('changed')).equals(other)).toBe(true)
    expect([requests(/upload-sessions$/), requests(/parts/)]).toEqual([1, 3])
  })

  it('starts over when the gateway does not know its session', async () => {
    const journal = memoryJournal()
    await begin(journal, 'forgotten')
    house.proxy.plan(/upload-sessions\/us_\w+$/, refusal(404, 'SESSION_NOT_FOUND'))
    await house.client({ signer, journal }).put(locker, 'forgotten', large)
    expect((await stored('forgotten')).equals(large)).toBe(true)
  })

  it('sends nothing when it was complete, unless the file was removed since', async () => {
    const journal = memoryJournal()
    const forgetful = {
      ...journal,
      put: async (...entry: Parameters<typeof journal.put>) => entry[1] !== null && journal.put(...entry),
    }
    const client = house.client({ signer, journal: forgetful })
    await client.put(locker, 'done', large)
    house.proxy.seen.length = 0
    await client.put(locker, 'done', large)
    expect(requests(/parts/)).toBe(0)
    await client.remove(locker, 'done')
    await client.put(locker, 'done', large)
    expect((await stored('done')).equals(large)).toBe(true)
  })

  it('can be resumed after the caller aborts it', async () => {
    const journal = memoryJournal()
    const controller = new AbortController()
    const client = house.client({ signer, journal })
    const put = client.put(locker, 'aborted', large, {
      onProgress: () => controller.abort(new Error('enough')),
      signal: controller.signal,
    })
    await expect(put).rejects.toThrow('enough')
    await client.put(locker, 'aborted', large)
    expect((await stored('aborted')).equals(large)).toBe(true)
  })
})

function refusal(status: number, error: string) {
  return { answer: { status, body: { error, message: error, request_id: 'req_0' } } }
}
