import { ProviderError } from '@svc/storage/provider'
import { onlyProvider } from '@svc/testbed/only-provider'
import { expect, it, onTestFinished } from 'vitest'
import { announceObject } from '../../src/files/objects.ts'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { openLockerHouse } from '../auth/lockers.ts'
import { watchedStorage } from './confirm/confirm.ts'

it('an object that cannot be removed is retried after all others', async () => {
  const storage = await watchedStorage()
  onTestFinished(storage.remove)
  const local = storage.providers.named('gcs')
  let stubborn: string
  const asked: string[] = []
  const providers = onlyProvider({
    ...local,
    async remove(key) {
      asked.push(key.id)
      if (key.id === stubborn) throw new ProviderError('unavailable', new Error('retention policy'))
      return local.remove(key)
    },
  })
  const house = await openLockerHouse({}, { providers })
  onTestFinished(house.close)
  const { files } = house.gateway.rooms
  stubborn = await announceObject(files, 'gcs')
  house.clock.advance(49 * 3600)
  expect(await sweepObjects(files)).toBe(0)
  expect(await sweepObjects(files)).toBe(0)
  expect(asked).toEqual([stubborn])

  const other = await announceObject(files, 'gcs')
  house.clock.advance(49 * 3600)
  expect(await sweepObjects(files)).toBe(1)
  expect(asked.slice(1).sort()).toEqual([stubborn, other].sort())
})
