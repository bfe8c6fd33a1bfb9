import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { toBase64Url, utf8 } from '@svc/protocol/bytes'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { insertFiles, storeFile } from '../files.ts'

interface FileList {
  locker_id: string
  files: { filename: string }[]
  count: number
  next_cursor?: string
}

const house = forAllTests(openTestGateway)
const locker = forEachTest(() => house.locker(ed25519Identity(), { provider: 'arweave' }))

const list = (query = '') => locker.call<FileList>(['locker:list'], 'GET', `/files${query}`)
const namesOf = ({ files }: FileList) => files.map(({ filename }) => filename)

it('FILE-13 SHAPE-21 the list shows the metadata of each file, and not where it is kept', async () => {
  await storeFile(house, locker, 'confirmed', 'hello', { contentType: 'text/html' })
  await storeFile(house, locker, 'uploaded', 'hello', { isConfirmed: false })
  const at = '2026-09-01T12:00:00Z'
  const confirmed = {
    filename: 'confirmed',
    size_bytes: 5,
    content_hash: 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    content_type: 'text/html',
    uploaded_at: at,
    hash_recorded_at: at,
    status: 'confirmed',
  }
  const unknown = { size_bytes: null, content_hash: null, hash_recorded_at: null, status: 'awaiting_bytes' }
  const uploaded = { ...confirmed, ...unknown, filename: 'uploaded', content_type: 'text/plain' }
  expect((await list()).body).toEqual({ locker_id: locker.lockerId, files: [confirmed, uploaded], count: 2 })
})

it('SHAPE-21 the list is in code-point order, not in UTF-16 order, with and without pages', async () => {
  const inOrder = ['A', 'Z', 'a', 'a/b', 'aa', 'z', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}']
  await insertFiles(house, locker, inOrder.toReversed())
  expect(namesOf((await list()).body)).toEqual(inOrder)
  const paged: string[] = []
  let query = '?limit=1'
  while (query) {
    const { body } = await list(query)
    paged.push(...namesOf(body))
    query = body.next_cursor === undefined ? '' : `?limit=1&cursor=${body.next_cursor}`
  }
  expect(paged).toEqual(inOrder)
})

it('FILE-13 the list comes in pages, and after the last file there is nothing', async () => {
  await insertFiles(house, locker, ['a', 'b', 'c', 'd'])
  const { body: first } = await list('?limit=2')
  expect([namesOf(first), first.count, first.next_cursor]).toEqual([['a', 'b'], 2, toBase64Url(utf8('b'))])
  for (const query of [`?limit=2&cursor=${first.next_cursor}`, `?cursor=${first.next_cursor}`]) {
    const { body } = await list(query)
    expect([namesOf(body), body.next_cursor]).toEqual([['c', 'd'], undefined])
  }
  const { body: beyond } = await list(`?limit=2&cursor=${toBase64Url(utf8('zzz'))}`)
  expect([beyond.files, beyond.count, beyond.next_cursor]).toEqual([[], 0, undefined])
})

it('FILE-13 a cursor stays valid when its file is deleted and files are added around it', async () => {
  await insertFiles(house, locker, ['b', 'd', 'f'])
  const { body: first } = await list('?limit=2')
  await locker.call(['locker:write'], 'DELETE', '/files/d')
  await insertFiles(house, locker, ['a', 'e'])
  expect(namesOf((await list(`?limit=9&cursor=${first.next_cursor}`)).body)).toEqual(['e', 'f'])
})

const encoded = (...bytes: number[]) => toBase64Url(Uint8Array.from(bytes))

it.each([
  ['cursor', 'no base64url', 'a+b'],
  ['cursor', 'with stray bits', 'YR'],
  ['cursor', 'empty', ''],
  ['cursor', 'no UTF-8', encoded(0xff)],
  ['cursor', 'a surrogate', encoded(0xed, 0xa0, 0x80)],
  ['cursor', 'with a NUL', encoded(0x61, 0x00)],
  ['cursor', 'too long', 'YWFh'.repeat(257)],
  ['cursor', 'given twice', 'YQ&cursor=YQ'],
  ['limit', 'too small', '0'],
  ['limit', 'too large', '10001'],
  ['limit', 'no number', 'all'],
])('FILE-13 refuses a %s that is %s, in every list', async (name, _, value) => {
  for (const path of ['/files', '/manifest', '/urls']) {
    const ops = ['locker:list', 'locker:read']
    const reply = await locker.call<{ detail: { loc: string[] }[] }>(ops, 'GET', `${path}?${name}=${value}`)
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body.detail[0]?.loc).toEqual(['query', name])
  }
})
