import { hash } from 'node:crypto'
import { lockerId } from '@svc/protocol/ids'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  type LockerHouse,
  openLockerHouse,
  type SignedCall,
  type TestLocker,
} from '../auth/lockers.ts'
import { askToAttest, attest, statusOf } from './attest.ts'

let house: LockerHouse
let locker: TestLocker
const operator = ed25519Identity()
beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(ed25519Identity(), { operators: [operator] })
  await locker.put('a', 'a')
})
afterAll(() => house.close())

/** The owner's valid call, with changes. */
function call(changes: Partial<SignedCall> = {}, who: Identity = locker.owner) {
  const { receiptId } = locker
  const path = `/v1/storage/attest?receipt_id=${receiptId}`
  return house.call(who, { method: 'POST', path, ops: ['locker:attest'], receiptId, ...changes })
}

const UNKNOWN = `rcpt_${'0'.repeat(32)}`

describe('the right to attest', () => {
  it.each(['ed25519', 'secp256k1'])('ATT-22 lets the payer attest with an %s key', async (sigAlg) => {
    const owner = sigAlg === 'ed25519' ? ed25519Identity() : evmIdentity()
    const own = await house.locker(owner)
    await own.put('a', 'a')
    expect((await attest(house, own)).attestation.file_count).toBe(1)
  })

  it('ATT-22 ENV-21 AMB-89 T-28 refuses operators, whatever ops they claim, strangers and unsigned calls', async () => {
    expectRefusal(await call({}, operator), 403, 'OWNER_REQUIRED')
    expectRefusal(await call({ ops: ['locker:attest', 'locker:admin'] }, operator), 403, 'OWNER_REQUIRED')
    expectRefusal(await call({}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
    expectRefusal(await call({ ops: ['locker:write', 'locker:admin'] }), 403, 'MISSING_OPS')
    for (const sync of ['', '&sync=true']) {
      const path = `/v1/storage/attest?receipt_id=${locker.receiptId}${sync}`
      expectRefusal(await house.send('POST', path), 422, 'validation_error')
    }
    expect(await statusOf(house, locker)).toBeNull()
  })

  it('T-10 limits how often a signer may attest', async () => {
    const strict = await openLockerHouse({ RATE_LIMIT_SIGNER: '3' })
    const own = await strict.locker(ed25519Identity())
    await own.put('a', 'a')
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await askToAttest(strict, own)).status)
    expect(statuses).toEqual([200, 200, 429])
    await strict.close()
  })
})

describe('the signed envelope of an attest request', () => {
  it('ENV-12 AMB-04 must name the receipt of the query, which is checked before any lookup', async () => {
    const another = await house.receipt(locker.owner)
    for (const receiptId of [another, UNKNOWN, '']) {
      expectRefusal(await call({ receiptId }), 401, 'RECEIPT_ID_MISMATCH')
    }
    const path = `/v1/storage/attest?receipt_id=${UNKNOWN}`
    expectRefusal(await call({ path }), 401, 'RECEIPT_ID_MISMATCH')
    // The mismatch is reported before the signer is checked.
    expectRefusal(await call({ path }, ed25519Identity()), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await call({ path, receiptId: UNKNOWN }), 404, 'receipt_not_found')
    expectRefusal(await call({ lockerId: lockerId(another) }), 401, 'LOCKER_ID_MISMATCH')
    expectRefusal(await call({ receiptId: another, lockerId: lockerId(another) }), 401, 'RECEIPT_ID_MISMATCH')
  })

  it('AMB-94 may name the locker or leave it empty', async () => {
    for (const id of ['', locker.lockerId]) expect((await call({ lockerId: id })).status).toBe(202)
  })

  it('AMB-95 may have the hash of an empty body or no hash', async () => {
    for (const body_sha256 of ['', hash('sha256', '')])
      expect((await call({ envelope: { body_sha256 } })).status).toBe(202)
    expectRefusal(await call({ envelope: { body_sha256: hash('sha256', '{}') } }), 403, 'BODY_HASH_MISMATCH')
  })

  it('ENV-13 T-04 is accepted once', async () => {
    const envelope = { nonce: 'ab'.repeat(16) }
    expect((await call({ envelope })).status).toBe(202)
    expectRefusal(await call({ envelope }), 403, 'NONCE_REPLAYED')
  })
})

describe('the query of an attest request', () => {
  it('ATT-07 must have a receipt id, and may have sync=true or sync=false', async () => {
    const base = '/v1/storage/attest'
    for (const path of [base, `${base}?sync=true`]) expectRefusal(await call({ path }), 422, 'validation_error')
    const { receiptId } = locker
    for (const sync of ['yes', '1', '', 'TRUE', 'null']) {
      const path = `${base}?receipt_id=${receiptId}&sync=${sync}`
      expectRefusal(await call({ path }), 422, 'validation_error')
    }
    expect((await call({ path: `${base}?receipt_id=${receiptId}&sync=false` })).status).toBe(202)
    expect((await call({ path: `${base}?receipt_id=${receiptId}&sync=true` })).status).toBe(200)
  })

  it('ATT-07 is refused if the receipt id is hostile text', async () => {
    const hostile = ['%00', '%F0%9F%98%80', "'; drop table statements; --", '%ff', 'x'.repeat(5000)]
    for (const receipt of hostile) {
      const { status } = await call({ path: `/v1/storage/attest?receipt_id=${receipt}` })
      expect([401, 422]).toContain(status)
    }
  })

  it('LOCK-09 must name a receipt that has a locker', async () => {
    const receiptId = await house.receipt(locker.owner)
    const path = `/v1/storage/attest?receipt_id=${receiptId}`
    for (const sync of ['', '&sync=true'])
      expectRefusal(await call({ path: path + sync, receiptId }), 404, 'locker_not_found')
  })
})
