// The emulator lets everybody in, so that wrong credentials are shown by the answers that Firestore gives to them.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ProviderError, StorageProvider } from '../../src/provider.ts'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'
import {
  ABOUT,
  fail,
  failureOf,
  MIB,
  readToEnd,
  startTestFirestore,
  type TestFirestore,
  UNAVAILABLE,
} from './start-firestore.ts'

const HASTY = { answerMs: 300, briefMs: 300 }

let at: TestFirestore
/** Gives a busy machine some time. */
let watchful: StorageProvider
beforeAll(async () => {
  at = await startTestFirestore()
  watchful = await at.open({}, { answerMs: 1500 })
})
afterAll(() => at.stop())

async function expectTrouble(provider: StorageProvider, reason: ProviderError['reason']): Promise<void> {
  const key = { id: newId(), ref: null }
  const uses = [
    keep(provider, randomBytes(2 * MIB)),
    provider.read(key),
    provider.stat(key),
    provider.absent([key]),
    provider.remove(key),
  ]
  for (const failure of await Promise.all(uses.map(failureOf))) {
    expect(failure.reason).toBe(reason)
    expect(failure.message).toBe(`the storage provider is ${reason}`)
  }
  expect(await provider.check()).toBe(false)
}

async function expectNothing(id: string): Promise<void> {
  expect([...(await at.objects(id)), ...(await at.chunks(id))]).toEqual([])
}

describe('a provider that is down', () => {
  it('is unavailable, and is used again when it is back', async () => {
    const bytes = randomBytes(MIB + 1)
    const key = await keep(at.provider, bytes)
    await at.server.goDown()
    await expectTrouble(at.provider, 'unavailable')
    const source = streamOf(randomBytes(5 * MIB))
    await expect(at.provider.write(newId(), source, ABOUT)).rejects.toMatchObject(UNAVAILABLE)
    expect([source.destroyed, source.isPaused()]).toEqual([false, true])

    const opened = await at.open()
    expect(await opened.check()).toBe(false)
    await at.server.comeBack()
    for (const provider of [at.provider, opened]) {
      await expect.poll(() => provider.check()).toBe(true)
      expect((await fetchBytes(provider, key))?.equals(bytes)).toBe(true)
    }
  })

  it('does not disturb a write when it is back before the next try', async () => {
    const bytes = randomBytes(3 * MIB)
    const key = await keep(at.provider, bytes)
    await at.server.goDown()
    const patient = await at.open({}, { attempts: 6, backoffMs: 50 })
    const written = keep(patient, bytes)
    await at.server.comeBack()
    for (const { id } of [key, await written]) {
      expect((await fetchBytes(at.provider, { id, ref: null }))?.equals(bytes)).toBe(true)
    }
  })
})

describe('a provider that hangs', () => {
  it('is given up, whatever it is asked', async () => {
    fail(at.server, { at: /./, mishap: 'silence' })
    await expectTrouble(await at.open({}, HASTY), 'unavailable')
  })

  it('is given up when it takes connections and never says a word', async () => {
    const silent = createServer((socket) => void socket.on('error', () => {}).resume())
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo // a listening TCP server has one
    const provider = await at.open({ emulator: `127.0.0.1:${port}` }, HASTY)
    await expectTrouble(provider, 'unavailable')
  })

  it('is given up in the middle of an object, of which nothing is left', async () => {
    const id = newId()
    fail(at.server, { at: /Commit/, after: 1, times: 1, mishap: 'silence' })
    await expect(keep(watchful, randomBytes(3 * MIB), id)).rejects.toMatchObject(UNAVAILABLE)
    await expectNothing(id)
  })

  it('ends a read that waits for the rest of a chunk', async () => {
    const stream = (await watchful.read(await keep(at.provider, randomBytes(5 * MIB))))!
    fail(at.server, { at: /BatchGet/, after: 2, mishap: { stallAnswerAt: 100_000 } })
    await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)
  })
})

it('a provider whose quota is used up is full, and has nothing of the object', async () => {
  const kept = await keep(at.provider, Buffer.from('kept'))
  const id = newId()
  fail(at.server, { at: /Commit/, after: 1, times: 3, mishap: { status: status.RESOURCE_EXHAUSTED } })
  expect((await failureOf(keep(at.provider, randomBytes(MIB), id))).reason).toBe('full')
  await expectNothing(id)
  expect(await fetchBytes(at.provider, kept)).toEqual(Buffer.from('kept'))
})

it.each([
  ['credentials', status.UNAUTHENTICATED, 'Request had invalid authentication credentials.'],
  ['permissions', status.PERMISSION_DENIED, 'Missing or insufficient permissions.'],
  ['the database', status.NOT_FOUND, 'The database (default) does not exist for project svc-test'],
])(
  'T-31 a provider is closed without %s, is asked once, and what it said is told to nobody',
  async (_, code, message) => {
    fail(at.server, { at: /./, mishap: { status: code, message } })
    await expectTrouble(at.provider, 'closed')
    const before = at.server.calls.length
    const failure = await failureOf(at.provider.stat({ id: newId(), ref: null }))
    expect(at.server.calls.length).toBe(before + 1)
    expect(failure.cause).toMatchObject({ code, details: message })
  },
)

it('a provider that is closed in the middle of an object may have some of it, and is told of as one that is gone', async () => {
  const id = newId()
  fail(at.server, { at: /Commit/, after: 1, mishap: { status: status.PERMISSION_DENIED } })
  const failure = await failureOf(keep(at.provider, randomBytes(2 * MIB), id))
  expect(failure).toMatchObject({ reason: 'unavailable', cause: { reason: 'closed' } })
  at.server.recover()
  expect(await at.provider.stat({ id, ref: null })).toBeNull()
  expect(await at.chunks(id)).toHaveLength(1)
  await at.provider.remove({ id, ref: null })
  await expectNothing(id)
})

describe('a provider that breaks', () => {
  it('is asked three times and no more', async () => {
    fail(at.server, { at: /./, mishap: { status: status.INTERNAL } })
    const before = at.server.calls.length
    const failure = await failureOf(at.provider.stat({ id: newId(), ref: null }))
    expect(failure.reason).toBe('unavailable')
    expect(at.server.calls.length).toBe(before + 3)
  })

  it('is asked once by a check', async () => {
    fail(at.server, { at: /./, mishap: { status: status.INTERNAL } })
    const before = at.server.calls.length
    expect(await at.provider.check()).toBe(false)
    expect(at.server.calls.length).toBe(before + 1)
  })

  it('fails a read, and does not just end it, when it goes on cutting its answers', async () => {
    const stream = (await at.provider.read(await keep(at.provider, randomBytes(5 * MIB))))!
    fail(at.server, { at: /BatchGet/, after: 1, mishap: { cutAnswerAt: 100_000 } })
    await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)
  })

  it('has nothing of an object when it goes on cutting the connection while bytes are sent', async () => {
    const id = newId()
    fail(at.server, { at: /Commit/, after: 1, times: 3, mishap: { cutRequestAt: 100_000 } })
    await expect(keep(at.provider, randomBytes(2 * MIB), id)).rejects.toMatchObject(UNAVAILABLE)
    await expectNothing(id)
  })
})
