import { randomBytes } from 'node:crypto'
import type { Database } from '@svc/database/open'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { toHex } from '@svc/protocol/bytes'
import { createNonces, forgetNonces } from '@svc/service/guard/nonces'
import type { NonceTable } from '@svc/service/guard/tables'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { draft, sendDraft } from './drafts.ts'

const nonceOf = (changes: Partial<NonceTable> = {}): NonceTable => ({
  signer: 'ann',
  nonce: toHex(randomBytes(16)),
  forget_at: 1000,
  ...changes,
})
const countOf = (answers: readonly boolean[]) => answers.filter(Boolean).length

forEachDatabaseInGate('nonces', (database) => {
  const opened = forAllTests(() => database.openMigrated<Schema>(migrations))
  const commit: Database<Schema>['commit'] = (...work) => opened.commit(...work)

  it('ENV-13 T-04 accepts one of a thousand concurrent uses of a nonce through two gateways', async () => {
    const other = await database.openMigrated<Schema>(migrations)
    const [here, there] = [createNonces(commit), createNonces(other.commit)]
    const nonce = nonceOf()
    const uses = Array.from({ length: 1000 }, (_, i) => (i % 2 ? here : there)(nonce))
    expect(countOf(await Promise.all(uses))).toBe(1)
    expect(await here(nonce)).toBe(false)
  })

  it('T-04 two gateways that store the same nonces in different orders do not block each other', async () => {
    const other = await database.openMigrated<Schema>(migrations)
    const [here, there] = [createNonces(commit), createNonces(other.commit)]
    const nonces = Array.from({ length: 700 }, () => nonceOf())
    const answers = await Promise.all([...nonces.map(here), ...nonces.toReversed().map(there)])
    expect(countOf(answers)).toBe(700)
    const [first, second] = [answers.slice(0, 700), answers.slice(700).reverse()]
    expect(first.every((isFirst, i) => isFirst !== second[i])).toBe(true)
  })

  it('ENV-13 counts a nonce separately for each signer', async () => {
    const useNonce = createNonces(commit)
    const { nonce } = nonceOf()
    const uses = ['ann', 'bob', 'ann', 'bob'].map((signer) => useNonce(nonceOf({ signer, nonce })))
    expect(await Promise.all(uses)).toEqual([true, true, false, false])
  })

  it('ENV-13 T-04 keeps a nonce as long as its envelope may still be used', async () => {
    const useNonce = createNonces(commit)
    const [old, last, young] = [
      nonceOf({ forget_at: 1999 }),
      nonceOf({ forget_at: 2000 }),
      nonceOf({ forget_at: 2001 }),
    ]
    for (const nonce of [old, last, young]) await useNonce(nonce)
    await commit((tx) => forgetNonces(tx, 2000))
    expect([await useNonce(last), await useNonce(young), await useNonce(old)]).toEqual([false, false, true])
  })

  it('T-04 a process whose clock is ahead forgets nothing that the others would accept again', async () => {
    const useNonce = createNonces(commit)
    const now = Math.floor(Date.now() / 1000)
    const used = { signer: 'a', nonce: 'used just now', forget_at: now + 3600 }
    expect(await useNonce(used)).toBe(true)
    await commit((tx) => forgetNonces(tx, now + 7200))
    expect(await useNonce(used)).toBe(false)
  })

  describe('over HTTP', () => {
    const owner = ed25519Identity()
    const operator = ed25519Identity()
    let instance: TestGateway
    let locker: TestLocker
    beforeAll(async () => {
      instance = await openTestGateway({ DATABASE_URL: database.url })
      locker = await instance.locker(owner, { operators: [operator] })
    })
    afterAll(() => instance.close())

    const reading = () =>
      draft(instance, locker, { method: 'GET', target: `/v1/lockers/${locker.lockerId}/record`, ops: ['locker:read'] })

    it('ENV-13 accepts a nonce once over all lockers and methods of a signer', async () => {
      const other = await instance.locker(owner)
      const { nonce } = reading().envelope
      const first = reading()
      first.envelope.nonce = nonce
      expect((await sendDraft(instance, first)).status).toBe(200)
      const target = `/v1/lockers/${other.lockerId}/operators`
      const second = draft(instance, other, { method: 'POST', target, ops: ['locker:admin'], body: '{}' })
      second.envelope.nonce = nonce
      expectRefusal(await sendDraft(instance, second), 403, 'NONCE_REPLAYED')
    })

    it('ENV-13 uses up the nonce of a request that fails later', async () => {
      const target = `/v1/lockers/${locker.lockerId}/operators/nobody`
      const removing = draft(instance, locker, { method: 'DELETE', target, ops: ['locker:admin'] })
      expectRefusal(await sendDraft(instance, removing), 404, 'OPERATOR_NOT_FOUND')
      expectRefusal(await sendDraft(instance, removing), 403, 'NONCE_REPLAYED')
      const adding = draft(instance, locker, {
        method: 'POST',
        target: `/v1/lockers/${locker.lockerId}/operators`,
        ops: ['locker:admin'],
        body: '{"pubkey"',
      })
      expectRefusal(await sendDraft(instance, adding), 422, 'validation_error')
      expectRefusal(await sendDraft(instance, adding), 403, 'NONCE_REPLAYED')
    })

    it('ENV-13 T-04 keeps a nonce for a minute after its envelope ends', async () => {
      const { envelope } = reading()
      envelope.iat += 30
      envelope.exp += 30
      await sendDraft(instance, { ...reading(), envelope })
      const row = await opened.db.selectFrom('nonces').selectAll().where('nonce', '=', envelope.nonce).execute()
      expect(row).toEqual([{ signer: owner.identity, nonce: envelope.nonce, forget_at: envelope.exp + 60 }])
    })

    it('ENV-13 T-04 refuses a used nonce after a restart and in another gateway', async () => {
      const request = reading()
      expect((await sendDraft(instance, request)).status).toBe(200)
      const another = await openTestGateway({ DATABASE_URL: database.url })
      expectRefusal(await sendDraft(another, request), 403, 'NONCE_REPLAYED')
      await another.close()
      await instance.close()
      instance = await openTestGateway({ DATABASE_URL: database.url })
      expectRefusal(await sendDraft(instance, request), 403, 'NONCE_REPLAYED')
      expect((await sendDraft(instance, reading())).status).toBe(200)
    })
  })
})
