import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type SignedCall,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { lockerId } from '@svc/protocol/ids'
import { beforeEach, expect, it } from 'vitest'
import { askToAttest, attest, statusOf } from './attest.ts'

const BASE = '/v1/storage/attest'
const operator = ed25519Identity()
const instance = forAllTests(() => openTestGateway())
let locker: TestLocker
beforeEach(async () => {
  locker = await instance.locker(ed25519Identity(), { operators: [operator] })
  await locker.put('a', 'a')
})

/** The owner's valid call, with changes. */
function call(changes: Partial<SignedCall> = {}, who: Identity = locker.owner) {
  const { receiptId } = locker
  const path = `${BASE}?receipt_id=${receiptId}`
  return instance.call(who, { method: 'POST', path, ops: ['locker:attest'], receiptId, ...changes })
}

it('ATT-22 OPER-05 operators with any ops, unknown keys and unsigned calls may not attest', async () => {
  expectRefusal(await call({}, operator), 403, 'OWNER_REQUIRED')
  expectRefusal(await call({ ops: ['locker:attest', 'locker:admin'] }, operator), 403, 'OWNER_REQUIRED')
  expectRefusal(await call({}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
  expectRefusal(await call({ ops: ['locker:write', 'locker:admin'] }), 403, 'MISSING_OPS')
  for (const sync of ['', '&sync=true'])
    expectRefusal(await instance.send('POST', `${BASE}?receipt_id=${locker.receiptId}${sync}`), 422, 'validation_error')
  expect(await statusOf(instance, locker)).toBeNull()
  const own = await instance.locker(evmIdentity())
  await own.put('a', 'a')
  expect((await attest(instance, own)).attestation.file_count).toBe(1)
})

it('T-10 attesting is rate-limited per signer', async () => {
  const strict = await openTestGateway({ RATE_LIMITS: 'signer=3/min' })
  const own = await strict.locker(ed25519Identity())
  await own.put('a', 'a')
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await askToAttest(strict, own)).status)
  expect(statuses).toEqual([200, 200, 429])
  await strict.close()
})

it('ENV-12 AMB-04 the envelope must name the receipt of the query, which is checked before any lookup', async () => {
  const another = await instance.receipt(locker.owner)
  const unknown = `rcpt_${'0'.repeat(32)}`
  for (const receiptId of [another, unknown, '']) expectRefusal(await call({ receiptId }), 401, 'RECEIPT_ID_MISMATCH')
  const path = `${BASE}?receipt_id=${unknown}`
  // The mismatch is reported before the signer is checked.
  expectRefusal(await call({ path }, ed25519Identity()), 401, 'RECEIPT_ID_MISMATCH')
  expectRefusal(await call({ path, receiptId: unknown }), 404, 'receipt_not_found')
  expectRefusal(await call({ lockerId: lockerId(another) }), 401, 'LOCKER_ID_MISMATCH')
  for (const id of ['', locker.lockerId]) expect((await call({ lockerId: id })).status).toBe(202)
})

it('ATT-07 LOCK-09 the query must have a receipt id that has a locker, and may have sync=true or sync=false', async () => {
  for (const path of [BASE, `${BASE}?sync=true`]) expectRefusal(await call({ path }), 422, 'validation_error')
  const { receiptId } = locker
  for (const sync of ['yes', '1', '', 'TRUE', 'null'])
    expectRefusal(await call({ path: `${BASE}?receipt_id=${receiptId}&sync=${sync}` }), 422, 'validation_error')
  expect((await call({ path: `${BASE}?receipt_id=${receiptId}&sync=false` })).status).toBe(202)
  expect((await call({ path: `${BASE}?receipt_id=${receiptId}&sync=true` })).status).toBe(200)
  const bare = await instance.receipt(locker.owner)
  for (const sync of ['', '&sync=true'])
    expectRefusal(await call({ path: `${BASE}?receipt_id=${bare}${sync}`, receiptId: bare }), 404, 'locker_not_found')
})
