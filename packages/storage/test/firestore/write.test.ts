import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect, it, onTestFinished } from 'vitest'
import { openCalls } from '../../src/firestore/calls.ts'
import { firestoreParts } from '../../src/firestore/parts.ts'
import { createStore } from '../../src/firestore/store.ts'
import { CHUNKING } from '../../src/firestore/write.ts'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'
import { ABOUT, fail, MIB, settingsFor, startTestFirestore } from './start-firestore.ts'

const { chunkBytes: CHUNK_BYTES } = CHUNKING

const at = forAllTests(() => startTestFirestore())

function sourceOf(pieces: AsyncIterable<Buffer>): Readable {
  return Readable.from(pieces, { objectMode: false })
}

async function expectNothing(id: string): Promise<void> {
  expect([...(await at.objects(id)), ...(await at.chunks(id))]).toEqual([])
}

it('an object in Firestore takes as few documents and commits as possible', async () => {
  for (const [size, chunks] of [
    [0, 0],
    [1, 1],
    [CHUNK_BYTES, 1],
    [CHUNK_BYTES + 1, 2],
    [3 * CHUNK_BYTES, 3],
  ] as const) {
    const before = at.server.calls.length
    const { id } = await keep(at.provider, randomBytes(size))
    expect([(await at.objects(id)).length, (await at.chunks(id)).length]).toEqual([1, chunks])
    expect(at.server.calls.slice(before).filter((call) => call === 'Commit')).toHaveLength(Math.max(chunks, 1))
  }
})

it.each([0, MIB])(
  'a write to Firestore changes nothing of another write of the same id with %i bytes',
  async (size) => {
    const id = newId()
    const second = randomBytes(size)
    async function* pieces() {
      yield randomBytes(3 * MIB)
      await expect.poll(() => at.chunks(id)).not.toEqual([])
      await at.provider.remove({ id, ref: null })
      await keep(at.provider, second, id)
      yield randomBytes(1)
    }
    await expect(at.provider.write(id, sourceOf(pieces()), ABOUT)).rejects.toThrow(/unavailable|an object with this id/)
    expect(await fetchBytes(at.provider, { id, ref: null })).toEqual(second)
    expect([(await at.objects(id)).length, (await at.chunks(id)).length]).toEqual([1, size === 0 ? 0 : 2])
  },
)

it('removing an object from Firestore also removes leftovers of an interrupted write, which do not block the id', {
  tags: ['nightly'],
}, async () => {
  const id = newId()
  async function* pieces() {
    yield randomBytes(12 * MIB)
    await expect.poll(async () => (await at.chunks(id)).length).toBeGreaterThan(8)
    // Leaves what a crash leaves: removing it fails.
    fail(at.server, { at: /./, fault: { status: 16 } })
    throw new Error('gone')
  }
  await expect(at.provider.write(id, sourceOf(pieces()), ABOUT)).rejects.toThrow('gone')
  at.server.recover()
  const left = await at.chunks(id)
  expect(left.length).toBeGreaterThan(8)
  expect(await at.provider.stat({ id, ref: null })).toBeNull()
  await keep(at.provider, Buffer.from('whole'), id)
  expect(await fetchBytes(at.provider, { id, ref: null })).toEqual(Buffer.from('whole'))
  expect(await at.chunks(id)).toHaveLength(left.length + 1)
  expect(await at.provider.remove({ id, ref: null })).toBe('removed')
  await expectNothing(id)
})

it('SESS-02 a part that arrives while its object is completed in Firestore does not change the object', async () => {
  const calls = openCalls(settingsFor(at.server.address))
  onTestFinished(calls.close)
  const store = createStore(calls, { connectMs: 10_000, answerMs: 20_000, attempts: 3, backoffMs: 60 })
  const [id, bytes] = [newId(), randomBytes(MIB)]
  const about = { contentType: 'text/plain', partBytes: MIB }
  const upload = { id, ref: await at.provider.parts.begin(id, about), contentType: 'text/plain' }
  const part = { index: 0, size: MIB, isLast: false, maxBytes: MIB }
  const ref = (await at.provider.parts.write(upload, part, streamOf(bytes)))!
  const complete = () => at.provider.parts.complete(upload, [{ ...part, ref }])
  let completed: Promise<unknown> | null = null
  const late = firestoreParts({
    ...store,
    async commit(writes) {
      completed ??= complete()
      await completed
      return store.commit(writes)
    },
  })
  expect(await late.write(upload, part, streamOf(randomBytes(MIB)))).toBeNull()
  expect((await fetchBytes(at.provider, { id, ref: null }))!.equals(bytes)).toBe(true)
  expect((await at.chunks(id)).filter((path) => path.includes('claim'))).toEqual([])
})
