import { randomBytes } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import type { Fault } from '@svc/devnet/providers/firestore/faults'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fetchBytes, keep, newId } from '../objects.ts'
import { fail, MIB, startTestFirestore, type TestFirestore, UNAVAILABLE } from './start-firestore.ts'

let at: TestFirestore
beforeAll(async () => {
  at = await startTestFirestore()
})
afterAll(() => at.stop())

/** 2 MiB and more are three chunks, and so three commits: the third has the object in it. */
const COMMITS = [0, 1, 2]
const bytes = randomBytes(2 * MIB + 1)

const temporary: Record<string, Fault> = {
  'is unavailable': { status: status.UNAVAILABLE },
  'has an internal error': { status: status.INTERNAL },
  'has contention on the documents': { status: status.ABORTED },
  'is overloaded': { status: status.RESOURCE_EXHAUSTED },
  'cuts the connection': 'cut',
  'cuts the connection in the middle of a chunk': { cutRequestAt: 50_000 },
  'succeeds and cuts the connection': 'lost answer',
}
it.each(Object.entries(temporary))(
  'a Firestore write continues when the provider %s, and nothing is written twice',
  { tags: ['nightly'] },
  async (_, fault) => {
    for (const after of COMMITS) {
      fail(at.server, { at: /Commit/, after, times: 1, fault })
      const key = await keep(at.provider, bytes)
      at.server.recover()
      expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
      expect([(await at.objects(key.id)).length, (await at.chunks(key.id)).length]).toEqual([1, 3])
    }
  },
)

it.each([
  ['has an internal error', { status: status.INTERNAL }],
  ['cuts the connection', 'cut'],
  ['cuts its answer', { cutAnswerAt: 30_000 }],
] satisfies [string, Fault][])(
  'a Firestore read continues when the provider %s',
  { tags: ['nightly'] },
  async (_, fault) => {
    const key = await keep(at.provider, bytes)
    for (const after of [0, 1, 2, 3]) {
      fail(at.server, { at: /BatchGet/, after, times: 1, fault })
      expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
      at.server.recover()
    }
  },
)

it('a Firestore removal continues when answers are lost', { tags: ['nightly'] }, async () => {
  const key = await keep(at.provider, bytes)
  for (const method of [/Commit/, /BatchGet/, /RunQuery/]) {
    at.server.fail({ at: method, times: 1, fault: 'lost answer' })
  }
  expect(await at.provider.remove(key)).toBe('removed')
  at.server.recover()
  expect([...(await at.objects(key.id)), ...(await at.chunks(key.id))]).toEqual([])
})

it('a Firestore write whose answers are lost twice is done once', { tags: ['nightly'] }, async () => {
  for (const after of COMMITS) {
    fail(at.server, { at: /Commit/, after, times: 2, fault: 'lost answer' })
    const key = await keep(at.provider, bytes)
    at.server.recover()
    expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
    expect(await at.chunks(key.id)).toHaveLength(3)
  }
})

it('nothing of an object is left in Firestore when all answers are lost', { tags: ['nightly'] }, async () => {
  for (const after of COMMITS) {
    const id = newId()
    fail(at.server, { at: /Commit/, after, times: 3, fault: 'lost answer' })
    await expect(keep(at.provider, bytes, id)).rejects.toMatchObject(UNAVAILABLE)
    at.server.recover()
    expect([...(await at.objects(id)), ...(await at.chunks(id))]).toEqual([])
  }
})
