import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { ERRORS, type Fault } from '@svc/devnet/providers/mongodb/faults'
import { expect, it } from 'vitest'
import { fetchBytes, keep, newId } from '../objects.ts'
import { command, failureOf, MIB, openTestMongodb, readToEnd, UNAVAILABLE } from './start-mongodb.ts'

const WRITES = [
  command('insert', 'objects.files'),
  command('insert', 'objects.chunks'),
  command('update', 'objects.files'),
]

it('T-31 a provider that fails is unavailable; what it said is kept for the log and told to nobody', async () => {
  const at = await openTestMongodb()
  at.failAlways(() => true, { error: ERRORS.internal })
  const failure = await failureOf(at.provider.stat({ id: newId(), ref: null }))
  expect(failure.reason).toBe('unavailable')
  expect(failure.cause).toMatchObject({ code: 1, message: ERRORS.internal.errmsg })
  expect(failure.message).not.toContain('shard')
})

it('a provider that fails is asked three times and no more', async () => {
  const at = await openTestMongodb()
  let asked = 0
  at.failAlways(() => ++asked > 0, { error: ERRORS.internal })
  await failureOf(at.provider.stat({ id: newId(), ref: null }))
  expect(asked).toBe(3)
})

const passing: Record<string, Fault> = {
  'says that it shuts down': { error: ERRORS.shuttingDown },
  'breaks inside': { error: ERRORS.internal },
  'cuts the connection': 'cut',
  'does it and cuts the connection': 'cut-after',
  'cuts the connection in its answer': 'cut-answer',
}
it.each(Object.entries(passing))('a provider is asked again when it %s, and does nothing twice', async (_, fault) => {
  const at = await openTestMongodb()
  const seen = new Set<string>()
  at.failAlways(({ name, collection }) => {
    const isNew = !seen.has(name + collection)
    seen.add(name + collection)
    return isNew && collection.startsWith('objects.')
  }, fault)
  const bytes = randomBytes(2 * MIB + 1)
  const key = await keep(at.provider, bytes)
  expect(at.files().map(({ _id }) => _id)).toEqual([key.id])
  expect(at.chunks().map(({ n }) => n)).toHaveLength(3)
  expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
  await at.provider.remove(key)
  expect([...at.files(), ...at.chunks()]).toEqual([])
  expect(seen.size).toBeGreaterThanOrEqual(7)
})

it('a provider writes nothing twice when it loses its answers again and again', async () => {
  const at = await openTestMongodb()
  for (const isMeant of WRITES) {
    at.failNext(isMeant, 'cut-after', 'cut-after')
    const bytes = randomBytes(2 * MIB)
    const key = await keep(at.provider, bytes)
    expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
    expect(at.files().filter(({ _id }) => _id === key.id)).toHaveLength(1)
    expect(at.chunks().filter(({ files_id }) => files_id === key.id)).toHaveLength(2)
  }
})

it('a provider has nothing of an object when it goes on losing its answers', async () => {
  const at = await openTestMongodb()
  for (const isMeant of WRITES) {
    at.failAlways(isMeant, 'cut-after')
    await expect(keep(at.provider, randomBytes(4 * MIB))).rejects.toMatchObject(UNAVAILABLE)
    expect([...at.files(), ...at.chunks()]).toEqual([])
  }
})

it('a provider has nothing of an object when it cuts the connection while the bytes are sent', async () => {
  const at = await openTestMongodb()
  at.server.faults.maxMessageBytes = MIB / 2
  await expect(keep(at.provider, randomBytes(2 * MIB))).rejects.toMatchObject(UNAVAILABLE)
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it('a provider fails a read, and does not just end it, when it goes on cutting its answers', async () => {
  const at = await openTestMongodb()
  const stream = (await at.provider.read(await keep(at.provider, randomBytes(5 * MIB))))!
  await once(stream, 'readable')
  at.failAlways(({ collection }) => collection === 'objects.chunks', 'cut-answer')
  await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)
})
