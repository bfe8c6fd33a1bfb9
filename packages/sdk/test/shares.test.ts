import type { Share } from '@svc/api/shares'
import { beforeAll, expect, it } from 'vitest'
import type { Client } from '../src/client.ts'
import { UntrueAnswer } from '../src/errors.ts'
import type { Locker } from '../src/lockers.ts'
import { errorOf, newEvm, useTestbed } from './lockers.ts'

let client: Client
let locker: Locker
const testbed = useTestbed()
beforeAll(async () => {
  const signer = newEvm()
  client = testbed.client({ signer })
  locker = await testbed.locker(signer)
  for (const name of ['photos/a.txt', 'b.txt']) await client.put(locker, name, new TextEncoder().encode(name))
})

const textAt = async ({ url }: Share) => (await fetch(testbed.gateway.url + new URL(url).pathname)).text()

it('ADD-61 a file and a folder are shared, listed and ended, even if an answer is lost', async () => {
  const file = await client.share(locker, 'b.txt')
  const folder = await client.share(locker, 'photos/', { hours: null, label: 'for Ada' })
  expect(file).toMatchObject({ path: 'b.txt', kind: 'file', label: null, expires_at: expect.any(String) })
  expect(folder).toMatchObject({ path: 'photos/', kind: 'folder', label: 'for Ada', expires_at: null })
  expect(await textAt(file)).toBe('b.txt')
  expect(JSON.parse(await textAt(folder))).toMatchObject({ files: [{ filename: 'a.txt' }] })
  expect((await client.shares(locker)).map(({ id }) => id).sort()).toEqual([file.id, folder.id].sort())
  testbed.proxy.plan(/shares\//, { cut: 'answer' })
  await client.endShare(locker, file.id)
  expect((await client.shares(locker)).map(({ id }) => id)).toEqual([folder.id])
  expect(await errorOf(client.endShare(locker, file.id))).toMatchObject({ code: 'SHARE_NOT_FOUND' })
  await client.endShare(locker, folder.id)
})

it('ADD-61 a share lasts as many hours as requested', async () => {
  const { id, created_at, expires_at } = await client.share(locker, 'b.txt', { hours: 2 })
  expect(Date.parse(expires_at as string) - Date.parse(created_at)).toBe(2 * 3_600_000)
  await client.endShare(locker, id)
})

it('ADD-62 the owner lists everything that opens the locker, and how to end it', async () => {
  const { id } = await client.share(locker, 'b.txt')
  const { access, end_all } = await client.access(locker)
  expect(access.map(({ kind }) => kind)).toEqual(['public_link', 'share'])
  const path = `/v1/lockers/${locker.locker_id}`
  expect(access[1]).toMatchObject({ id, end: { method: 'DELETE', path: `${path}/shares/${id}` } })
  expect(end_all).toEqual({ method: 'POST', path: `${path}/revoke` })
  await client.revokeAccess(locker)
  expect((await client.access(locker)).access.map(({ kind }) => kind)).toEqual(['public_link'])
})

it.each<[string, Partial<Share>]>([
  ['another path', { path: 'other.txt' }],
  ['an id of another form', { id: '../../..' }],
  ['an address that is not a web address', { url: 'javascript:alert(1)' }],
  ['an address of another share', { url: 'https://gateway.example/s/AAAAAAAAAAAAAAAAAAAAAA' }],
  ['an address with markup', { url: 'https://gateway.example/"><script>/s/AAAAAAAAAAAAAAAAAAAAAA' }],
])('T-95 ADD-61 a share with %s is refused', async (_, changes) => {
  const lie = (body: unknown) => ({ ...(body as Share), ...changes })
  testbed.proxy.always(/shares$/, {
    lie: (body) => {
      const { shares } = body as { shares?: Share[] }
      return shares ? { ...(body as object), shares: shares.map(lie) } : lie(body)
    },
  })
  expect(await errorOf(client.share(locker, 'b.txt'))).toBeInstanceOf(UntrueAnswer)
  if (changes.path === undefined) expect(await errorOf(client.shares(locker))).toBeInstanceOf(UntrueAnswer)
})
