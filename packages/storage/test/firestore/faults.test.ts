// The emulator accepts any credentials, so these tests use the answers that Firestore gives to wrong ones.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ProviderError, StorageProvider } from '../../src/provider.ts'
import { failureOf, readToEnd } from '../failures.ts'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'
import { ABOUT, fail, MIB, startTestFirestore, type TestFirestore, UNAVAILABLE } from './start-firestore.ts'

const SHORT = { answerMs: 300, connectMs: 300 }

let at: TestFirestore
/** Gives a busy machine time to answer. */
let watchful: StorageProvider
beforeAll(async () => {
  at = await startTestFirestore()
  watchful = await at.open({}, { answerMs: 1500 })
})
afterAll(() => at.stop())

async function expectFailure(provider: StorageProvider, reason: ProviderError['reason']): Promise<void> {
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

describe('a Firestore database that is down', () => {
  it('is unavailable, and is used again when it is back', async () => {
    const bytes = randomBytes(MIB + 1)
    const key = await keep(at.provider, bytes)
    await at.server.goDown()
    await expectFailure(at.provider, 'unavailable')
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

  it('does not disturb a write when it is back before the next attempt', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(3 * MIB)
    const key = await keep(at.provider, bytes)
    await at.server.goDown()
    const retrying = await at.open({}, { attempts: 6, backoffMs: 50 })
    const written = keep(retrying, bytes)
    await at.server.comeBack()
    for (const { id } of [key, await written]) {
      expect((await fetchBytes(at.provider, { id, ref: null }))?.equals(bytes)).toBe(true)
    }
  })
})

describe('a Firestore database that hangs', () => {
  it('times out on every operation', async () => {
    fail(at.server, { at: /./, fault: 'silence' })
    await expectFailure(await at.open({}, SHORT), 'unavailable')
  })

  it('times out when it accepts connections and never answers', async () => {
    const silent = createServer((socket) => void socket.on('error', () => {}).resume())
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    onTestFinished(() => void silent.close())
    const { port } = silent.address() as AddressInfo // a listening TCP server has one
    const provider = await at.open({ emulator: `127.0.0.1:${port}` }, SHORT)
    await expectFailure(provider, 'unavailable')
  })

  it('times out in the middle of an object, and nothing of it is left', { tags: ['nightly'] }, async () => {
    const id = newId()
    fail(at.server, { at: /Commit/, after: 1, times: 1, fault: 'silence' })
    await expect(keep(watchful, randomBytes(3 * MIB), id)).rejects.toMatchObject(UNAVAILABLE)
    await expectNothing(id)
  })

  it('fails a read that waits for the rest of a chunk', { tags: ['nightly'] }, async () => {
    const stream = (await watchful.read(await keep(at.provider, randomBytes(5 * MIB))))!
    fail(at.server, { at: /BatchGet/, after: 2, fault: { stallAnswerAt: 100_000 } })
    await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)
  })
})

it('a Firestore database whose quota is used up is full, and has nothing of the object', async () => {
  const kept = await keep(at.provider, Buffer.from('kept'))
  const id = newId()
  fail(at.server, { at: /Commit/, after: 1, times: 3, fault: { status: status.RESOURCE_EXHAUSTED } })
  expect((await failureOf(keep(at.provider, randomBytes(MIB), id))).reason).toBe('full')
  await expectNothing(id)
  expect(await fetchBytes(at.provider, kept)).toEqual(Buffer.from('kept'))
})

it.each([
  ['credentials', status.UNAUTHENTICATED, 'Request had invalid authentication credentials.'],
  ['permissions', status.PERMISSION_DENIED, 'Missing or insufficient permissions.'],
  ['the database', status.NOT_FOUND, 'The database (default) does not exist for project svc-test'],
])(
  'T-31 Firestore is closed without %s, gets one request, and the message of the error shows nothing of its answer',
  async (_, code, message) => {
    fail(at.server, { at: /./, fault: { status: code, message } })
    await expectFailure(at.provider, 'closed')
    const before = at.server.calls.length
    const failure = await failureOf(at.provider.stat({ id: newId(), ref: null }))
    expect(at.server.calls.length).toBe(before + 1)
    expect(failure.cause).toMatchObject({ code, details: message })
  },
)

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

describe('a Firestore database that fails', () => {
  it('gets three requests and no more', async () => {
    fail(at.server, { at: /./, fault: { status: status.INTERNAL } })
    const before = at.server.calls.length
    const failure = await failureOf(at.provider.stat({ id: newId(), ref: null }))
    expect(failure.reason).toBe('unavailable')
    expect(at.server.calls.length).toBe(before + 3)
  })

  it('gets one request from a health check', async () => {
    fail(at.server, { at: /./, fault: { status: status.INTERNAL } })
    const before = at.server.calls.length
    expect(await at.provider.check()).toBe(false)
    expect(at.server.calls.length).toBe(before + 1)
  })

  it('fails a read when it keeps cutting its answers', { tags: ['nightly'] }, async () => {
    const stream = (await at.provider.read(await keep(at.provider, randomBytes(5 * MIB))))!
    fail(at.server, { at: /BatchGet/, after: 1, fault: { cutAnswerAt: 100_000 } })
    await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)
  })

  it('has nothing of an object when it keeps cutting the connection during the upload', async () => {
    const id = newId()
    fail(at.server, { at: /Commit/, after: 1, times: 3, fault: { cutRequestAt: 100_000 } })
    await expect(keep(at.provider, randomBytes(2 * MIB), id)).rejects.toMatchObject(UNAVAILABLE)
    await expectNothing(id)
  })
})
