import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { json, text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { compareCodePoints } from '@svc/protocol/order'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  ed25519Identity,
  type Identity,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { beginRaw, callRaw, insertFiles } from '../files.ts'

const COUNT = 20_000
/** All names together exceed the buffers between the gateway and a client that does not read. */
const LONG = 'x'.repeat(400)
const KINDS = ['', 'a/', '\u00e9', '\uffff', '\u{1f600}']
const LAST = '\u{10ffff}'

let house: LockerHouse
let owner: Identity
let locker: TestLocker
let names: string[]
let nonces = 0

/** Each token takes one nonce of 8 bytes. */
function countingBytes(length: number): Uint8Array {
  if (length === 8) nonces++
  return randomBytes(length)
}

const withBytes = (i: number) => ({ object_id: `${i}`.padStart(32, '0') })

beforeAll(async () => {
  house = await openLockerHouse({}, { randomBytes: countingBytes })
  owner = ed25519Identity()
  locker = await house.locker(owner)
  names = Array.from({ length: COUNT }, (_, i) => `${KINDS[i % KINDS.length]}${i}-${LONG}`).toSorted(compareCodePoints)
  await insertFiles(house, locker, names, (i) => (i % 10 === 0 ? withBytes(i) : {}))
})
afterAll(() => house.close())

const OPS = ['locker:read', 'locker:list']
const signed = (path: string, { lockerId } = locker, method = 'GET') => ({
  method,
  path: `/v1/lockers/${lockerId}${path}`,
  ops: OPS,
  lockerId,
})

function begin(path: string, from = locker): Promise<IncomingMessage> {
  const call = signed(path, from)
  return beginRaw(house, 'GET', call.path, house.sign(owner, call).headers)
}

interface Files {
  files: { filename: string }[]
}
const namesOf = ({ files }: Files) => files.map(({ filename }) => filename)
const addLast = () => insertFiles(house, locker, [LAST])
const deleteLast = () => locker.call(['locker:write'], 'DELETE', `/files/${encodeURIComponent(LAST)}`)

it('FILE-13 a list of 20,000 files is complete and in order', { tags: ['nightly'] }, async () => {
  const answer = await begin('/files')
  expect([answer.statusCode, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
    200,
    'application/json; charset=utf-8',
    'no-store',
  ])
  const { locker_id, count, ...list } = (await json(answer)) as Files & { locker_id: string; count: number }
  expect([locker_id, count]).toEqual([locker.lockerId, COUNT])
  expect(namesOf(list)).toEqual(names)
  expect(list.files[0]).toEqual({
    filename: names[0],
    size_bytes: null,
    content_hash: null,
    content_type: 'text/plain',
    uploaded_at: null,
    hash_recorded_at: null,
    status: 'awaiting_bytes',
  })
})

it('FILE-13 a cursor without a limit answers all files that follow', async () => {
  const cursor = Buffer.from(names[9_999] as string).toString('base64url')
  const list = (await json(await begin(`/files?cursor=${cursor}`))) as Files & { count: number }
  expect([namesOf(list), list.count]).toEqual([names.slice(10_000), 10_000])
})

it('FILE-13 a long list is streamed before all of it is read', async () => {
  const answer = await begin('/files')
  await once(answer.pause(), 'readable')
  const first = answer.read() as Buffer
  await addLast()
  const list = JSON.parse(first + (await text(answer))) as Files
  await deleteLast()
  expect(list.files.at(-1)?.filename).toBe(LAST)
})

it('FILE-18 FILE-19 a manifest of 20,000 files is complete, in order and unchanged', {
  tags: ['nightly'],
}, async () => {
  const { files, ...head } = (await json(await begin('/manifest'))) as Files
  expect(head).toEqual({
    locker_id: locker.lockerId,
    receipt_id: locker.receiptId,
    manifest_version: expect.any(Number),
    updated_at: '2026-09-01T12:00:00Z',
    file_count: COUNT,
    total_bytes: 0,
    changed_while_reading: false,
  })
  expect(namesOf({ files })).toEqual(names)
  expect(files[0]).toMatchObject({ provider: 'gcs', provider_ref: null })
})

it('FILE-18 a manifest that changes while it is read says so', { tags: ['nightly'] }, async () => {
  const answer = await begin('/manifest')
  await once(answer.pause(), 'readable')
  const first = answer.read() as Buffer
  await addLast()
  const manifest = JSON.parse(first + (await text(answer)))
  await deleteLast()
  expect([manifest.file_count, manifest.files.length, manifest.changed_while_reading]).toEqual([COUNT, COUNT + 1, true])
})

it('LOCK-13 SHAPE-16 the URLs of 20,000 files are complete and in order, and so are the names without bytes', {
  tags: ['nightly'],
}, async () => {
  const answer = (await json(await begin('/urls?ttl_min=3'))) as {
    urls: { filename: string; download_url: string }[]
    found: number
    not_found: string[]
  }
  const { urls, not_found, ...facts } = answer
  expect(facts).toEqual({ locker_id: locker.lockerId, found: COUNT / 10, urls_expire_in_sec: 180 })
  expect(urls.map(({ filename }) => filename)).toEqual(names.filter((_, i) => i % 10 === 0))
  expect(not_found).toEqual(names.filter((_, i) => i % 10 !== 0))
  expect(new Set(urls.map(({ download_url }) => download_url)).size).toBe(COUNT / 10)
  expect(Object.keys(urls[0] ?? {})).toEqual([
    'filename',
    'download_url',
    'content_type',
    'content_hash',
    'size_bytes',
    'uploaded_at',
    'provider_ref',
  ])
})

it('LOCK-13 no URLs are signed for a client that has disconnected or sent HEAD', { tags: ['nightly'] }, async () => {
  const full = await house.locker(owner)
  await insertFiles(house, full, names, withBytes)
  const before = nonces
  const head = await callRaw(house, owner, signed('/urls', full, 'HEAD'))
  expect([head.status, head.text, nonces - before]).toEqual([200, '', 0])
  const answer = await begin('/urls', full)
  for await (const chunk of answer) if (String(chunk).includes('download_url')) break
  // A gateway that went on would sign sixteen of them in each turn of its event loop.
  for (let turn = 0; turn < COUNT / 10; turn++) await setImmediate()
  expect(nonces - before).toBeGreaterThan(0)
  expect(nonces - before).toBeLessThan(COUNT)
})
