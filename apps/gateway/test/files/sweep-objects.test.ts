import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalProvider } from '@svc/storage/local'
import { ProviderError } from '@svc/storage/provider'
import { onlyProvider } from '@svc/testbed/only-provider'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { announceObject } from '../../src/files/objects.ts'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { type LockerHouse, openLockerHouse } from '../auth/lockers.ts'

let folder: string
let house: LockerHouse
let stubborn: string
const asked: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-files-'))
  const local = await openLocalProvider({ folder })
  const providers = onlyProvider({
    ...local,
    async remove(key) {
      asked.push(key.id)
      if (key.id === stubborn) throw new ProviderError('unavailable', new Error('retention policy'))
      return local.remove(key)
    },
  })
  house = await openLockerHouse({ STORAGE_DIR: folder }, { providers })
})
afterAll(async () => {
  await house.close()
  await rm(folder, { recursive: true })
})

it('an object that cannot be removed is retried after all others', async () => {
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
