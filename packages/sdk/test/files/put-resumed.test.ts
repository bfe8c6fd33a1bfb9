import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Journal, memoryJournal } from '../../src/journal.ts'
import type { Locker } from '../../src/lockers.ts'
import { errorOf, newEd25519, useTestbed } from '../lockers.ts'

const MiB = 1024 * 1024
const signer = newEd25519()
let locker: Locker
const testbed = useTestbed({ FILE_LIMITS: `part_bytes=${4 * MiB}` })
beforeAll(async () => {
  locker = await testbed.locker(signer)
})

const requests = (pattern: RegExp) => testbed.proxy.seen.filter(({ path }) => pattern.test(path)).length
const small = randomBytes(1000)
const large = randomBytes(9 * MiB + 7)

async function stored(filename: string): Promise<Buffer> {
  const response = await fetch(`${testbed.gateway.url}/v1/r/${locker.receipt_id}/f/${filename}`)
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer())
}

describe('a broken connection during an upload', () => {
  it.each(['request', 'answer'] as const)('causes one more attempt if the %s is lost', async (cut) => {
    testbed.proxy.plan(/^\/f\//, { cut })
    testbed.proxy.plan(/files\/confirm/, { cut })
    await testbed.client({ signer }).put(locker, 'cut', small)
    expect((await stored('cut')).equals(small)).toBe(true)
    expect(requests(/^\/f\//)).toBe(2)
  })

  it('causes only the affected parts to be sent again', { tags: ['nightly'] }, async () => {
    testbed.proxy.plan(/parts\?index=1$/, { cut: 'request' }, { cut: 'answer' })
    testbed.proxy.plan(/finalize/, { cut: 'answer' })
    await testbed.client({ signer }).put(locker, 'cut', large)
    expect((await stored('cut')).equals(large)).toBe(true)
    expect(requests(/parts/)).toBe(5)
  })

  it('FILE-34 SHORT-07 an expired upload URL is renewed', async () => {
    testbed.proxy.plan(/^\/f\//, refusal(403, 'SHORT_URL_EXPIRED'))
    await testbed.client({ signer }).put(locker, 'late', small)
    expect(requests(/\/files$/)).toBe(2)
  })
})

describe('an interrupted upload', () => {
  const begin = async (journal: Journal, filename: string) => {
    testbed.proxy.always(/index=2$/, { cut: 'request' })
    await errorOf(testbed.client({ signer, journal }).put(locker, filename, large))
    testbed.proxy.behave()
    testbed.proxy.seen.length = 0
  }

  it('SESS-02 SESS-04 resumes with the parts that the gateway lacks, even in another process', {
    tags: ['nightly'],
  }, async () => {
    const journal = memoryJournal()
    await begin(journal, 'resumed')
    await testbed.client({ signer, journal }).put(locker, 'resumed', new Blob([new Uint8Array(large)]))
    expect((await stored('resumed')).equals(large)).toBe(true)
    expect([requests(/upload-sessions$/), requests(/parts/)]).toEqual([0, 1])
  })

  it('starts over if the bytes have changed', { tags: ['nightly'] }, async () => {
    const journal = memoryJournal()
    await begin(journal, 'changed')
    const other = Buffer.concat([Buffer.from('!'), large.subarray(1)])
    await testbed.client({ signer, journal }).put(locker, 'changed', other)
    expect((await stored('changed')).equals(other)).toBe(true)
    expect([requests(/upload-sessions$/), requests(/parts/)]).toEqual([1, 3])
  })

  it('starts over if the gateway does not know its session', { tags: ['nightly'] }, async () => {
    const journal = memoryJournal()
    await begin(journal, 'forgotten')
    testbed.proxy.plan(/upload-sessions\/us_\w+$/, refusal(404, 'SESSION_NOT_FOUND'))
    await testbed.client({ signer, journal }).put(locker, 'forgotten', large)
    expect((await stored('forgotten')).equals(large)).toBe(true)
  })

  it('sends nothing if it was complete, unless the file has been removed since', { tags: ['nightly'] }, async () => {
    const journal = memoryJournal()
    const forgetful = {
      ...journal,
      put: async (...entry: Parameters<typeof journal.put>) => entry[1] !== null && journal.put(...entry),
    }
    const client = testbed.client({ signer, journal: forgetful })
    await client.put(locker, 'done', large)
    testbed.proxy.seen.length = 0
    await client.put(locker, 'done', large)
    expect(requests(/parts/)).toBe(0)
    await client.remove(locker, 'done')
    await client.put(locker, 'done', large)
    expect((await stored('done')).equals(large)).toBe(true)
  })
})

describe('parts in flight', () => {
  const PART = 4 * MiB
  const AT_ONCE = 4
  const bytes = randomBytes(8 * PART + 1)

  /** A client whose parts all wait until four are in flight. */
  function clientOfFour(onFour: () => void = () => {}) {
    const { promise: fourInFlight, resolve: open } = Promise.withResolvers<void>()
    const parts = { inFlight: 0, most: 0, signals: [] as (AbortSignal | null | undefined)[] }
    const client = testbed.client({
      signer,
      journal: memoryJournal(),
      async fetch(url, init) {
        if (!String(url).includes('/parts?')) return fetch(url, init)
        parts.signals.push(init?.signal)
        parts.most = Math.max(parts.most, ++parts.inFlight)
        if (parts.inFlight === AT_ONCE) {
          open()
          onFour()
        }
        await fourInFlight
        return fetch(url, init).finally(() => void parts.inFlight--)
      },
    })
    return { client, parts }
  }

  it('SESS-03 are four, and only they and the next part are read from the source', {
    tags: ['nightly'],
  }, async () => {
    const { client, parts } = clientOfFour()
    let read = 0
    let done = 0
    let mostHeld = 0
    async function* source() {
      for (let at = 0; at < bytes.length; at += MiB) {
        const piece = bytes.subarray(at, at + MiB)
        read += piece.length
        mostHeld = Math.max(mostHeld, read - done)
        yield piece
      }
    }
    const onProgress = (sent: number) => {
      expect(sent).toBeGreaterThan(done)
      done = sent
    }
    await client.put(locker, 'parallel', source(), { onProgress })
    expect((await stored('parallel')).equals(bytes)).toBe(true)
    expect(parts.most).toBe(AT_ONCE)
    expect(mostHeld).toBeLessThanOrEqual((AT_ONCE + 1) * PART)
  })

  it('SESS-02 wait and are retried separately, as the gateway requests', { tags: ['nightly'] }, async () => {
    const busy = refusal(429, 'RATE_LIMITED', { 'retry-after': '7' })
    testbed.proxy.plan(/index=1$/, busy, busy)
    testbed.proxy.plan(/index=5$/, { cut: 'answer' })
    await testbed.client({ signer }).put(locker, 'limited', bytes)
    expect((await stored('limited')).equals(bytes)).toBe(true)
    expect(testbed.waits.filter((ms) => ms === 7000)).toHaveLength(2)
    const sent = testbed.proxy.seen.flatMap(({ path }) => /index=(\d+)$/.exec(path)?.[1] ?? [])
    expect(sent.sort().join('')).toBe('011123455678')
  })

  it('all stop if the caller aborts, and no other part is sent', async () => {
    const controller = new AbortController()
    const { client, parts } = clientOfFour(() => controller.abort(new Error('enough')))
    await expect(client.put(locker, 'stopped', bytes, { signal: controller.signal })).rejects.toThrow('enough')
    expect(parts.signals.map((signal) => signal?.aborted)).toEqual(Array(AT_ONCE).fill(true))
    expect(parts.inFlight).toBe(0)
  })
})

function refusal(status: number, error: string, headers = {}) {
  return { answer: { status, headers, body: { error, message: error, request_id: 'req_0' } } }
}
