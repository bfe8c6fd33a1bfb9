// The emulator accepts any credentials, so these tests use Firestore's own answers to wrong ones.

import { randomBytes } from 'node:crypto'
import { status } from '@grpc/grpc-js'
import type { Fault } from '@svc/devnet/providers/firestore/faults'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StorageProvider } from '../../src/provider.ts'
import { failureOf } from '../failures.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { fail, MIB, startTestFirestore, type TestFirestore, UNAVAILABLE } from './start-firestore.ts'

let at: TestFirestore
/** Gives a busy machine time to answer. */
let watchful: StorageProvider
beforeAll(async () => {
  at = await startTestFirestore()
  watchful = await at.open({}, { answerMs: 1500 })
})
afterAll(() => at.stop())

async function expectNothing(id: string): Promise<void> {
  expect([...(await at.objects(id)), ...(await at.chunks(id))]).toEqual([])
}

describe('a Firestore database that hangs', () => {
  it('times out in the middle of an object, and leaves nothing of it', { tags: ['nightly'] }, async () => {
    const id = newId()
    fail(at.server, { at: /Commit/, after: 1, times: 1, fault: 'silence' })
    await expect(keep(watchful, randomBytes(3 * MIB), id)).rejects.toMatchObject(UNAVAILABLE)
    await expectNothing(id)
  })
})

it('a Firestore database that rejects us in the middle of an object counts as unavailable, since chunks may be left', {
  tags: ['nightly'],
}, async () => {
  const id = newId()
  fail(at.server, { at: /Commit/, after: 1, fault: { status: status.PERMISSION_DENIED } })
  const failure = await failureOf(keep(at.provider, randomBytes(2 * MIB), id))
  expect(failure).toMatchObject({ reason: 'unavailable', cause: { reason: 'closed' } })
  at.server.recover()
  expect(await at.provider.stat({ id, ref: null })).toBeNull()
  expect(await at.chunks(id)).toHaveLength(1)
  await at.provider.remove({ id, ref: null })
  await expectNothing(id)
})

it('a Firestore database that fails gets three requests and no more, and one from a health check', async () => {
  fail(at.server, { at: /./, fault: { status: status.INTERNAL } })
  const before = at.server.calls.length
  await failureOf(at.provider.stat({ id: newId(), ref: null }))
  expect(at.server.calls.length).toBe(before + 3)
  await at.provider.check()
  expect(at.server.calls.length).toBe(before + 4)
})

/** 2 MiB and more are three chunks, and so three commits: the third contains the object. */
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
  'a Firestore write continues without duplicates when the provider %s',
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

it('a Firestore removal continues when answers are lost', { tags: ['nightly'] }, async () => {
  const key = await keep(at.provider, bytes)
  for (const method of [/Commit/, /BatchGet/, /RunQuery/]) {
    at.server.fail({ at: method, times: 1, fault: 'lost answer' })
  }
  expect(await at.provider.remove(key)).toBe('removed')
  at.server.recover()
  expect([...(await at.objects(key.id)), ...(await at.chunks(key.id))]).toEqual([])
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
