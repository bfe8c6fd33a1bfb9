import { toBase64Url, utf8 } from '@svc/protocol/bytes'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { callRaw, insertFiles, storeFile } from '../files.ts'

interface FileList {
  locker_id: string
  files: { filename: string }[]
  count: number
  next_cursor?: string
}

let house: LockerHouse

beforeAll(async () => {
  house = await openLockerHouse()
})
afterAll(() => house.close())

const list = (locker: TestLocker, query = '') => locker.call<FileList>(['locker:list'], 'GET', `/files${query}`)
const namesOf = ({ files }: FileList) => files.map(({ filename }) => filename)

it('FILE-33 FILE-13 a new locker has no files', async () => {
  const locker = await house.locker(ed25519Identity())
  const { status, body, headers } = await list(locker)
  expect([status, body]).toEqual([200, { locker_id: locker.lockerId, files: [], count: 0 }])
  expect(headers.get('cache-control')).toBe('no-store')
})

it('FILE-13 SHAPE-21 the list shows the metadata of each file, and not where it is kept', async () => {
  const locker = await house.locker(ed25519Identity(), { provider: 'arweave' })
  await storeFile(house, locker, 'confirmed', 'hello', { contentType: 'text/html' })
  await storeFile(house, locker, 'uploaded', 'hello', { isConfirmed: false })
  const at = '2026-09-01T12:00:00Z'
  const content_hash = 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
  expect((await list(locker)).body).toEqual({
    locker_id: locker.lockerId,
    files: [
      {
        filename: 'confirmed',
        size_bytes: 5,
        content_hash,
        content_type: 'text/html',
        uploaded_at: at,
        hash_recorded_at: at,
        status: 'confirmed',
      },
      {
        filename: 'uploaded',
        size_bytes: null,
        content_hash: null,
        content_type: 'text/plain',
        uploaded_at: at,
        hash_recorded_at: null,
        status: 'awaiting_bytes',
      },
    ],
    count: 2,
  })
})

it('SHAPE-21 the list is in code-point order, not in UTF-16 order, with and without pages', async () => {
  const locker = await house.locker(ed25519Identity())
  const inOrder = ['A', 'Z', 'a', 'a/b', 'aa', 'z', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}']
  await insertFiles(house, locker, inOrder.toReversed())
  expect(namesOf((await list(locker)).body)).toEqual(inOrder)
  const paged: string[] = []
  let query = '?limit=1'
  while (query) {
    const { body } = await list(locker, query)
    paged.push(...namesOf(body))
    query = body.next_cursor === undefined ? '' : `?limit=1&cursor=${body.next_cursor}`
  }
  expect(paged).toEqual(inOrder)
})

it('FILE-13 each page but the last has a cursor to the next', async () => {
  const locker = await house.locker(ed25519Identity())
  await insertFiles(house, locker, ['a', 'b', 'c', 'd'])
  const { body: first } = await list(locker, '?limit=2')
  expect([namesOf(first), first.count, first.next_cursor]).toEqual([['a', 'b'], 2, toBase64Url(utf8('b'))])
  const { body: second } = await list(locker, `?limit=2&cursor=${first.next_cursor}`)
  expect([namesOf(second), second.next_cursor]).toEqual([['c', 'd'], undefined])
  const { body: rest } = await list(locker, `?cursor=${first.next_cursor}`)
  expect([namesOf(rest), rest.next_cursor]).toEqual([['c', 'd'], undefined])
  const { body: beyond } = await list(locker, `?limit=2&cursor=${toBase64Url(utf8('zzz'))}`)
  expect([beyond.files, beyond.count, beyond.next_cursor]).toEqual([[], 0, undefined])
})

it('FILE-13 a cursor stays valid when its file is deleted and files are added around it', async () => {
  const locker = await house.locker(ed25519Identity())
  await insertFiles(house, locker, ['b', 'd', 'f'])
  const { body: first } = await list(locker, '?limit=2')
  await locker.call(['locker:write'], 'DELETE', '/files/d')
  await insertFiles(house, locker, ['a', 'e'])
  expect(namesOf((await list(locker, `?limit=9&cursor=${first.next_cursor}`)).body)).toEqual(['e', 'f'])
})

const encoded = (...bytes: number[]) => toBase64Url(Uint8Array.from(bytes))

it.each([
  ['no base64url', 'a+b'],
  ['padded', 'YQ=='],
  ['with stray bits', 'YR'],
  ['cut short', 'Y'],
  ['empty', ''],
  ['no UTF-8', encoded(0xff)],
  ['overlong UTF-8', encoded(0xc0, 0xaf)],
  ['a surrogate', encoded(0xed, 0xa0, 0x80)],
  ['with a NUL', encoded(0x61, 0x00)],
  ['too long', 'YWFh'.repeat(257)],
  ['given twice', 'YQ&cursor=YQ'],
])('FILE-13 refuses a cursor that is %s', async (_, cursor) => {
  const locker = await house.locker(ed25519Identity())
  for (const path of ['/files', '/manifest', '/urls']) {
    const reply = await locker.call<{ detail: { loc: string[] }[] }>(
      ['locker:list', 'locker:read'],
      'GET',
      `${path}?cursor=${cursor}`,
    )
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body.detail[0]?.loc).toEqual(['query', 'cursor'])
  }
})

it.each(['0', '-1', '10001', '1.5', '1e2', 'all', '', '1&limit=2'])('FILE-13 refuses a limit of %j', async (limit) => {
  const locker = await house.locker(ed25519Identity())
  for (const path of ['/files', '/manifest', '/urls']) {
    const reply = await locker.call(['locker:list', 'locker:read'], 'GET', `${path}?limit=${limit}`)
    expectRefusal(reply, 422, 'validation_error')
  }
})

it('FILE-13 listing needs locker:list', async () => {
  const locker = await house.locker(ed25519Identity())
  expectRefusal(await locker.call(['locker:read', 'locker:write'], 'GET', '/files'), 403, 'MISSING_OPS')
})

it('FILE-13 HEAD of the list answers the headers of GET without a body', async () => {
  const owner = ed25519Identity()
  const { lockerId } = await house.locker(owner)
  const path = `/v1/lockers/${lockerId}/files`
  const reply = await callRaw(house, owner, { method: 'HEAD', path, ops: ['locker:list'], lockerId })
  expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([
    200,
    '',
    'application/json; charset=utf-8',
  ])
})
