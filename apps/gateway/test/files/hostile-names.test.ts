import { forbiddenUrls, startTrap } from '@svc/outgoing/test/address-forms'
import { compareCodePoints } from '@svc/protocol/order'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { callRaw, lockerRow, pathOf, sendRaw } from './files.ts'

let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(ed25519Identity())
})
afterAll(() => house.close())

const named = (isAccepted: boolean) =>
  HOSTILE_FILENAMES.filter(({ accepted }) => accepted === isAccepted).map(({ name }) => name)

/** Every seventh name. Each kind of name is in the list three times, in three positions, so all kinds stay covered. */
const someOf = (names: readonly string[]) => names.filter((_, i) => i % 7 === 0)

interface Made {
  filename: string
  upload_url: string
}

interface Urls {
  urls: { filename: string }[]
  not_found: string[]
}

const asked = (filename: string) => ({ filename, content_type: 'text/plain' })
const create = (filename: string) => locker.call<Made>(['locker:write'], 'POST', '/files', asked(filename))
const createAll = (filenames: readonly string[]) =>
  locker.call<{ files: Made[] }>(['locker:write'], 'POST', '/files/batch', { files: filenames.map(asked) })

function byName(method: string, filename: string) {
  const { lockerId, owner } = locker
  const path = `/v1/lockers/${lockerId}/files/${pathOf(filename)}`
  return callRaw(house, owner, { method, path, ops: ['locker:read', 'locker:write'], lockerId })
}

const publicly = (filename: string) => sendRaw(house, 'GET', `/v1/r/${locker.receiptId}/f/${pathOf(filename)}`)

/** A few at a time. */
async function forEachName(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  const waiting = names.values()
  const worker = async () => {
    for (const name of waiting) await work(name)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

it('FILE-03 FILE-04 FILE-05 FILE-06 AMB-22 T-05 T-06 accepted names come back byte for byte everywhere', {
  tags: ['nightly'],
}, async () => {
  const names = named(true)
  const inOrder = names.toSorted(compareCodePoints)
  const batch = await createAll(names)
  expect([batch.status, batch.body.files.map(({ filename }) => filename)]).toEqual([200, names])
  await forEachName(someOf(names), async (name) => {
    const made = await create(name)
    expect([made.status, made.body.filename], JSON.stringify(name)).toEqual([200, name])
    const uploaded = await sendBytes(made.body.upload_url, name)
    expect(uploaded, JSON.stringify(name)).toEqual([200, name])
  })

  const list = await locker.call<{ files: { filename: string }[] }>(['locker:list'], 'GET', '/files')
  expect(list.body.files.map(({ filename }) => filename)).toEqual(inOrder)
  const manifest = await locker.call<{ files: { filename: string }[] }>(['locker:read'], 'GET', '/manifest')
  expect(manifest.body.files.map(({ filename }) => filename)).toEqual(inOrder)
  const urls = await locker.call<Urls>(['locker:read'], 'GET', '/urls')
  expect(urls.body.urls.map(({ filename }) => filename)).toEqual(someOf(names).toSorted(compareCodePoints))
  const some = await locker.call<Urls>(['locker:read'], 'POST', '/files/urls', { filenames: names })
  expect(some.body.urls.map(({ filename }) => filename)).toEqual(someOf(names))
  for (const { not_found } of [urls.body, some.body])
    expect(not_found.toSorted(compareCodePoints)).toEqual(inOrder.filter((name) => !someOf(names).includes(name)))

  await forEachName(someOf(names), async (name) => {
    const got = await byName('GET', name)
    expect([got.status, JSON.parse(got.text).filename], JSON.stringify(name)).toEqual([200, name])
    const read = await publicly(name)
    expect([read.status, read.text], JSON.stringify(name)).toEqual([200, name])
    const gone = await byName('DELETE', name)
    expect([gone.status, JSON.parse(gone.text).filename], JSON.stringify(name)).toEqual([200, name])
  })
  const left = names.length - someOf(names).length
  expect(await lockerRow(house, locker)).toMatchObject({ file_count: left, total_bytes: 0 })
})

it('FILE-03 FILE-04 FILE-05 FILE-06 AMB-22 T-05 T-06 refused names answer 422 everywhere and create nothing', {
  tags: ['nightly'],
}, async () => {
  const names = named(false)
  const before = await lockerRow(house, locker)
  await forEachName(names, async (name) => {
    // The longest ones do not even fit into the body (T-35).
    const status = Buffer.byteLength(name) > 8_000 ? 413 : 422
    expect((await create(name)).status, JSON.stringify(name)).toBe(status)
  })
  await forEachName(someOf(names), async (name) => {
    expect((await createAll(['good', name])).status, JSON.stringify(name)).toBe(422)
    // A path cannot express an empty name, half a character, or more than fits into an envelope.
    if (name === '' || !name.isWellFormed() || pathOf(name).length > 3000) return
    expect((await byName('GET', name)).status, JSON.stringify(name)).toBe(422)
    expect((await byName('DELETE', name)).status, JSON.stringify(name)).toBe(422)
    expect([404, 422], JSON.stringify(name)).toContain((await publicly(name)).status)
  })
  expect(await lockerRow(house, locker)).toEqual(before)
})

it('T-124 no notation of an address of our network is fetched', async () => {
  const trap = await startTrap()
  const { lockerId, receiptId, owner } = locker
  for (const source_url of forbiddenUrls(trap.port).filter((_, i) => i % 20 === 0)) {
    const body = { source_url, filename: 'fetched' }
    const call = { method: 'POST', path: '/v1/files/fetch-and-store', body, ops: ['locker:write'], lockerId, receiptId }
    expectRefusal(await house.call(owner, call), 422, 'validation_error')
  }
  expect(trap.calls()).toBe(0)
  await trap.stop()
})

/** Uploads a text. Returns the status and the name in the answer. */
async function sendBytes(uploadUrl: string, body: string): Promise<[number, string]> {
  const { pathname } = new URL(uploadUrl)
  const reply = await fetch(house.gateway.url + pathname, {
    method: 'PUT',
    headers: { 'content-type': 'text/plain' },
    body: new TextEncoder().encode(body),
  })
  return [reply.status, ((await reply.json()) as { filename: string }).filename]
}
