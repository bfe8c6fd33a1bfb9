// What a share shows: everything that its reader needs, and nothing about the locker.

import { type SharedContent, showShare } from '@svc/api/shares'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { schemaCheck } from '@svc/service/http/validate'
import { expect, it } from 'vitest'
import {
  addressesOf,
  answerOf,
  endShare,
  expectEnded,
  share,
  sharesOf,
  UNKNOWN_ID,
} from '../../adapters/http/shares/shares.ts'
import { sha256 } from '../../adapters/http/transfers.ts'
import { attest } from '../../evidence/attest.ts'
import { insertFiles } from '../../files/files.ts'

const instance = forAllTests(openTestGateway)
const locker = forEachTest(async () => {
  const made = await instance.locker(ed25519Identity())
  await made.put('a.txt', 'one')
  await made.put('photos/b.txt', 'two')
  await made.put('photos/deep/c.html', 'three', { contentType: 'text/html' })
  await made.put('photos-private/d.txt', 'four')
  return made
})

async function show(id: string, query = ''): Promise<SharedContent> {
  const { status, body, headers } = await instance.send<SharedContent>('GET', `/v1/shares/${id}${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(schemaCheck(showShare.responses[200])(body)).toBeNull()
  expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['private, no-store', 'no-referrer'])
  return body
}

const remove = async (filename: string) =>
  expect((await locker.call(['locker:write'], 'DELETE', `/files/${filename}`)).status).toBe(200)

it('ADD-61 a shared file shows its name, size, type, hash and times', async () => {
  const { id, created_at, expires_at } = await share(locker, 'photos/b.txt', { label: 'private' })
  expect(await show(id)).toEqual({
    name: 'b.txt',
    kind: 'file',
    size_bytes: 3,
    content_type: 'text/plain',
    content_hash: `sha256:${sha256('two')}`,
    uploaded_at: expect.stringMatching(/Z$/),
    created_at,
    expires_at,
    attested: false,
  })
})

it('ADD-61 a shared folder shows its files under relative names, and no others', async () => {
  const { id } = await share(locker, 'photos/', { expires_in_hours: null })
  const shown = await show(id)
  expect(shown).toMatchObject({ name: 'photos', kind: 'folder', size_bytes: null, expires_at: null, count: 2 })
  expect(shown.files).toEqual([
    expect.objectContaining({ filename: 'b.txt', size_bytes: 3, content_type: 'text/plain' }),
    expect.objectContaining({ filename: 'deep/c.html', size_bytes: 5, content_type: 'text/html' }),
  ])
  expect(shown.next_cursor).toBeUndefined()
  const deep = await show((await share(locker, 'photos/deep/')).id)
  expect(deep).toMatchObject({ name: 'deep', files: [{ filename: 'c.html' }] })
})

it('ADD-61 a folder is shown in pages whose cursors do not name the folder', async () => {
  const names = ['a', 'é', 'z', '😀', 'sub/x'].map((name) => `pages/${name}.txt`)
  for (const name of names) await locker.put(name, name)
  const { id } = await share(locker, 'pages/')
  const found: string[] = []
  for (let cursor: string | undefined, pages = 0; ; pages++) {
    const page = await show(id, `?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
    found.push(...page.files!.map(({ filename }) => `pages/${filename}`))
    cursor = page.next_cursor
    if (cursor === undefined) {
      expect(pages).toBe(2)
      break
    }
    expect(Buffer.from(cursor, 'base64url').toString()).not.toContain('pages')
  }
  expect(found).toEqual(names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
  for (const query of ['?cursor=%21', '?limit=0', '?limit=1001', '?cursor=AA']) {
    const { status, body } = await instance.send('GET', `/v1/shares/${id}${query}`)
    expectRefusal({ status, body, headers: new Headers() }, 422, 'validation_error')
  }
})

it('T-10 ADD-61 a page has at most 1000 files, and files without bytes are left out', async () => {
  const names = Array.from({ length: 1001 }, (_, i) => `many/${String(i).padStart(4, '0')}`)
  await insertFiles(instance, locker, names, (i) => (i % 2 ? {} : { object_id: 'x', size_bytes: 1 }))
  const { id } = await share(locker, 'many/')
  const first = await show(id)
  expect([first.count, first.files!.length]).toEqual([500, 500])
  const last = await show(id, `?cursor=${first.next_cursor}`)
  expect(last).toMatchObject({ count: 1, files: [{ filename: '1000' }] })
  expect(last.next_cursor).toBeUndefined()
})

it('ADD-61 a share stays when its content is gone: the file is not found, and the folder is empty', async () => {
  const [file, folder] = [await share(locker, 'a.txt'), await share(locker, 'photos/deep/')]
  await remove('a.txt')
  await remove('photos/deep/c.html')
  expectRefusal(await instance.send('GET', `/v1/shares/${file.id}`), 404, 'FILE_NOT_FOUND')
  expect(await show(folder.id)).toMatchObject({ files: [], count: 0 })
})

it('ADD-61 a share shows whether the newest statement includes the content as it is now', async () => {
  const [file, folder] = [await share(locker, 'a.txt'), await share(locker, 'photos/')]
  const attested = async () => [(await show(file.id)).attested, (await show(folder.id)).attested]
  expect(await attested()).toEqual([false, false])
  await attest(instance, locker)
  expect(await attested()).toEqual([true, true])
  await locker.put('photos/new.txt', 'new')
  expect(await attested()).toEqual([true, false])
  await locker.put('a.txt', 'other bytes')
  expect(await attested()).toEqual([false, false])
  await attest(instance, locker)
  expect(await attested()).toEqual([true, true])
})

it('T-49 ADD-61 no answer names the receipt, the locker, its owner, or what is beside the share', async () => {
  const { receiptId, lockerId, owner } = locker
  await locker.put(`photos/of-${receiptId}.txt`, 'x')
  await locker.put(`photos/of-${lockerId}.txt`, 'x')
  await attest(instance, locker)
  const [file, folder] = [
    await share(locker, 'photos/b.txt', { label: 'for the court' }),
    await share(locker, 'photos/'),
  ]
  const names = ['b.txt', 'none.txt', `of-${receiptId}.txt`, `of-${lockerId}.txt`, 'deep', '../a.txt']
  const hidden = [
    receiptId,
    lockerId,
    receiptId.slice(5),
    lockerId.slice(7),
    owner.identity,
    'for the court',
    'a.txt',
    'd.txt',
  ]
  const statuses: number[] = []
  for (const { id } of [file, folder]) {
    for (const name of names) {
      for (const path of addressesOf(id, encodeURIComponent(name))) {
        for (const init of [{}, { headers: { accept: 'text/html' } }, { headers: { 'if-match': '"x"' } }]) {
          const { status, headers, text } = await answerOf(instance, path, init)
          statuses.push(status)
          const said = JSON.stringify([headers, text]).replaceAll(encodeURIComponent(name), '').replaceAll(name, '')
          for (const secret of hidden) expect(said, `${path} ${secret}`).not.toContain(secret)
        }
      }
    }
  }
  expect(new Set(statuses)).toEqual(new Set([200, 303, 404, 412]))
})

it('T-49 ADD-61 unknown, malformed and ended shares answer the same, to every request', async () => {
  const { id } = await share(locker, 'a.txt')
  expect((await endShare(locker, id)).status).toBe(200)
  for (const unknown of [id, 'A', 'B'.repeat(22), `${id}A`, locker.lockerId, locker.receiptId, '__proto__', 'null'])
    await expectEnded(instance, unknown)
  const { status, headers, text } = await answerOf(instance, `/v1/shares/${UNKNOWN_ID}`)
  expect([status, JSON.parse(text).error]).toEqual([404, 'SHARE_NOT_FOUND'])
  expect(headers).toMatchObject({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' })
})

it('ADD-61 the short address redirects programs to the bytes of a file, and to the list of a folder', async () => {
  await locker.put('photos/a b+ü.txt', 'special')
  const [file, folder] = [await share(locker, 'photos/a b+ü.txt'), await share(locker, 'photos/')]
  const followed = await fetch(`${instance.gateway.url}/s/${file.id}`)
  expect([new URL(followed.url).pathname, await followed.text()]).toEqual([
    `/v1/shares/${file.id}/f/a%20b%2B%C3%BC.txt`,
    'special',
  ])
  const { status, headers } = await answerOf(instance, `/s/${folder.id}`)
  expect([status, headers.location]).toEqual([303, `../v1/shares/${folder.id}`])
  expect(headers).toMatchObject({
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    vary: 'accept',
  })
  const listed = await fetch(`${instance.gateway.url}/s/${folder.id}`)
  expect(await listed.json()).toMatchObject({ kind: 'folder', count: 3 })
})

it('ADD-61 the address in the list is the one that opens the share', async () => {
  await share(locker, 'a.txt')
  const [listed] = await sharesOf(locker)
  const { pathname } = new URL(listed!.url)
  expect(await (await fetch(instance.gateway.url + pathname)).text()).toBe('one')
})
