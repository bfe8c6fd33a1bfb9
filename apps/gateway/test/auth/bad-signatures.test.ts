import { afterEach, beforeEach, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse } from './lockers.ts'

let house: LockerHouse
beforeEach(async () => {
  house = await openLockerHouse({ RATE_LIMIT_ADDRESS: '5' })
})
afterEach(() => house.close())

it('T-10 refuses an address with too many bad signatures before it checks another one', async () => {
  const owner = ed25519Identity()
  const stranger = ed25519Identity()
  const locker = await house.locker(owner)
  const read = (who = owner) => locker.call<{ error?: string }>(['locker:read'], 'GET', '/record', undefined, who)
  for (let i = 0; i < 5; i++) expectRefusal(await read(stranger), 403, 'SIGNATURE_INVALID')
  const refused = await read(stranger)
  expectRefusal(refused, 429, 'RATE_LIMITED')
  expect(refused.headers.get('retry-after')).toBe('12')
  expectRefusal(await read(), 429, 'RATE_LIMITED')
  house.clock.advance(12)
  expect((await read()).status).toBe(200)
})

it('T-10 does not count good signatures against the limit on bad ones', async () => {
  const owner = ed25519Identity()
  const locker = await house.locker(owner)
  for (let i = 0; i < 10; i++) expect((await locker.call(['locker:read'], 'GET', '/record')).status).toBe(200)
})
