import type { AttestAnswer } from '@svc/api/attestations'
import * as attestations from '@svc/api/attestations'
import { forEachDatabase } from '@svc/devnet/databases'
import { schemaCheck } from '@svc/http-service/validate'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { seedFiles } from '@svc/testbed/seed-lockers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse } from '../auth/lockers.ts'
import { type WatchedStorage, watchedStorage } from '../files/confirm/confirm.ts'
import { attest } from './attest.ts'

forEachDatabase('a locker of many files', (database) => {
  let house: LockerHouse
  let storage: WatchedStorage
  beforeAll(async () => {
    storage = await watchedStorage()
    // The files have no bytes: nothing is absent for this provider.
    const local = { ...storage.providers.named('gcs'), absent: async () => new Set<string>() }
    const providers = { ...storage.providers, named: () => local }
    house = await openLockerHouse({ DATABASE_URL: database.url }, { providers })
  })
  afterAll(async () => {
    await house.close()
    await storage.remove()
  })

  it.each([5000, 10_000])(
    'ATT-01 SHAPE-10 is attested and answered with all of its %i files',
    { tags: ['nightly'] },
    async (count) => {
      const locker = await house.locker(ed25519Identity())
      await seedFiles(house.gateway.context, locker.lockerId, count)
      const answer: AttestAnswer = await attest(house, locker)
      const { files, merkle_root, file_count } = answer.attestation
      expect([files.length, file_count]).toEqual([count, count])
      expect(merkle_root).toBe(`sha256:${merkleRoot(files.map(leafHash))}`)
      expect(schemaCheck(attestations.AttestAnswer)(answer)).toBeNull()
      expect((await attest(house, locker)).unchanged).toBe(true)
    },
  )
})
