import type { LockerMetadata } from '@svc/api/lockers'
import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { afterAll, beforeAll, expect, it } from 'vitest'

const owner = ed25519Identity()
const operator = ed25519Identity()
let instance: TestGateway
let locker: TestLocker

beforeAll(async () => {
  instance = await openTestGateway()
  locker = await instance.locker(owner, { operators: [operator], tags: ['tier:gold', 'name:First'] })
})
afterAll(() => instance.close())

const rename = (name: unknown, who = owner) =>
  locker.call<{ tags: string[]; error: string }>(['locker:admin'], 'POST', '/name', { name }, who)
const tags = async () => {
  const { body } = await instance.call<LockerMetadata>(owner, {
    path: `/v1/storage/metadata/${locker.lockerId}`,
    ops: ['locker:read'],
    lockerId: locker.lockerId,
  })
  return body.tags
}

it('LOCK-17 the owner changes and removes the name, and the other tags stay', async () => {
  expect(await rename('Contracts 2026')).toMatchObject({
    status: 200,
    body: { tags: ['tier:gold', 'name:Contracts 2026'] },
  })
  expect(await tags()).toEqual(['tier:gold', 'name:Contracts 2026'])
  expect((await rename('x'.repeat(59))).status).toBe(200)
  expect((await rename(null)).body.tags).toEqual(['tier:gold'])
  expect(await tags()).toEqual(['tier:gold'])
})

it('LOCK-17 OPER-03 an operator may not, and a name that no tag can hold changes nothing', async () => {
  await rename('Kept')
  expect(await rename('Other', operator)).toMatchObject({ status: 403, body: { error: 'OWNER_REQUIRED' } })
  for (const name of ['', 'x'.repeat(60), 7, undefined])
    expect(await rename(name)).toMatchObject({ status: 422, body: { error: 'validation_error' } })
  expect(await tags()).toEqual(['tier:gold', 'name:Kept'])
})
