import { forAllTests } from '@svc/devnet/for-tests'
import { seedOracleRecord } from '@svc/devnet/services/seed-statements'
import {
  ed25519Identity,
  expectRefusal,
  type Identity,
  type SignedCall,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { beforeEach, expect, it } from 'vitest'
import { findLockerOf } from '../../src/files/store.ts'
import { attest, queueToAttest } from '../evidence/attest.ts'
import { askToPush, expectAnchors, push, useAnchorTestbed } from './anchor-testbed.ts'

const testbed = useAnchorTestbed()
const instance = forAllTests(() => testbed.open({ PUBLISH: 'on_request' }))
let locker: TestLocker
const operator = ed25519Identity()
beforeEach(async () => {
  locker = await instance.locker(ed25519Identity(), { operators: [operator] })
  await locker.put('a', 'a')
})

const ask = <Body>(changes?: Partial<SignedCall>, who?: Identity) => askToPush<Body>(instance, locker, changes, who)

it('ATT-22 ENV-21 operators with any ops, unknown keys and unsigned calls may not publish', async () => {
  await attest(instance, locker)
  expectRefusal(await ask({ ops: ['locker:attest', 'locker:admin'] }, operator), 403, 'OWNER_REQUIRED')
  expectRefusal(await ask({}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
  expectRefusal(await ask({ ops: ['locker:write', 'locker:admin'] }), 403, 'MISSING_OPS')
  const unsigned = await instance.send('POST', '/v1/attest/push', { receipt_id: locker.receiptId })
  expectRefusal(unsigned, 422, 'validation_error')
  await expectAnchors(instance, testbed.chain, locker, [false])
})

it('ENV-12 ATT-11 a push must name the receipt of its envelope', async () => {
  await attest(instance, locker)
  const other = await instance.receipt(locker.owner)
  for (const receipt_id of [other, '', "'; drop table statements; --"])
    expectRefusal(await ask({ body: { receipt_id } }), 401, 'RECEIPT_ID_MISMATCH')
  expectRefusal(await ask({ receiptId: other }), 401, 'RECEIPT_ID_MISMATCH')
  for (const body of [{}, { receipt_id: null }, { receipt_id: [locker.receiptId] }, { receipt_id: '\0' }, []])
    expectRefusal(await ask({ body }), 422, 'validation_error')
  const unknown = `rcpt_${'0'.repeat(32)}`
  expectRefusal(await ask({ receiptId: unknown, body: { receipt_id: unknown } }), 404, 'receipt_not_found')
  await expectAnchors(instance, testbed.chain, locker, [false])
})

it('ATT-11 ERR-22 without an attestation a push answers 409 with a hint', async () => {
  const none = await ask<{ hint: string }>()
  expectRefusal(none, 409, 'attestation_not_available')
  expect(none.body.hint).toContain(`POST /v1/storage/attest?receipt_id=${locker.receiptId}`)
  await queueToAttest(instance, locker)
  const pending = await ask<{ hint: string }>()
  expectRefusal(pending, 409, 'attestation_not_available')
  expect(pending.body.hint).toContain('being computed')
})

it('ATT-11 VER-15 a record of the oracle era has no statement to publish, but the next attestation has one', async () => {
  const { context } = instance.gateway
  const row = await findLockerOf(context.database.db, { locker_id: locker.lockerId })
  await seedOracleRecord(context, row!)
  expectRefusal(await ask(), 409, 'attestation_not_available')
  await attest(instance, locker)
  expect(await push(instance, locker)).toMatchObject({ status: 'pushed' })
  await expectAnchors(instance, testbed.chain, locker, [false, true])
})
