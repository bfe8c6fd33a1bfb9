import { hash } from 'node:crypto'
import { lockerId } from '@svc/protocol/ids'
import { seedOracleRecord } from '@svc/testbed/seed-statements'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findLockerOf } from '../../src/files/store.ts'
import { attest, queueToAttest, statusOf } from '../attestations/attest.ts'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  type LockerHouse,
  type SignedCall,
  type TestLocker,
} from '../auth/lockers.ts'
import {
  type AnchorTestbed,
  askToPush,
  expectAnchors,
  filledLocker,
  push,
  startAnchorTestbed,
} from './anchor-testbed.ts'

let testbed: AnchorTestbed
let house: LockerHouse
let locker: TestLocker
const operator = ed25519Identity()
beforeAll(async () => {
  testbed = await startAnchorTestbed()
  house = await testbed.open({ ATTEST_PUSH: 'false' })
  locker = await house.locker(ed25519Identity(), { operators: [operator] })
  await locker.put('a', 'a')
  await attest(house, locker)
})
afterAll(() => testbed.stop())

const ask = (changes?: Partial<SignedCall>, who?: Identity) => askToPush<unknown>(house, locker, changes, who)
const UNKNOWN = `rcpt_${'0'.repeat(32)}`

describe('who may publish', () => {
  it.each(['ed25519', 'secp256k1'])('ATT-22 the payer may publish with an %s key', async (sigAlg) => {
    const own = await filledLocker(house, sigAlg === 'ed25519' ? ed25519Identity() : evmIdentity())
    await attest(house, own)
    expect(await push(house, own)).toMatchObject({ status: 'pushed' })
  })

  it('ATT-22 ENV-21 AMB-89 T-28 operators with any ops, strangers and unsigned calls may not publish', async () => {
    expectRefusal(await ask({}, operator), 403, 'OWNER_REQUIRED')
    expectRefusal(await ask({ ops: ['locker:attest', 'locker:admin'] }, operator), 403, 'OWNER_REQUIRED')
    expectRefusal(await ask({}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
    expectRefusal(await ask({ ops: ['locker:write', 'locker:admin'] }), 403, 'MISSING_OPS')
    const unsigned = await house.send('POST', '/v1/attest/push', { receipt_id: locker.receiptId })
    expectRefusal(unsigned, 422, 'validation_error')
    await expectAnchors(house, testbed.chain, locker, [false])
  })

  it('T-10 publishing counts against the limit of the signer', async () => {
    const limited = await testbed.open({ ANCHOR_KIND: 'off', ATTEST_PUSH: 'false', RATE_LIMIT_SIGNER: '3' })
    const own = await filledLocker(limited)
    await attest(limited, own)
    const statuses = []
    for (let i = 0; i < 2; i++) statuses.push((await askToPush(limited, own)).status)
    expect(statuses).toEqual([200, 429])
  })
})

describe('what a push must say', () => {
  it('ENV-12 ATT-11 a push must name the receipt of its envelope; any other is a mismatch', async () => {
    const other = await filledLocker(house, locker.owner)
    await attest(house, other)
    for (const receipt_id of [other.receiptId, UNKNOWN, '', "'; drop table statements; --"])
      expectRefusal(await ask({ body: { receipt_id } }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await ask({ receiptId: other.receiptId }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await ask({ receiptId: UNKNOWN, body: { receipt_id: UNKNOWN } }), 404, 'receipt_not_found')
    expectRefusal(await ask({ lockerId: lockerId(other.receiptId) }), 401, 'LOCKER_ID_MISMATCH')
    for (const of of [locker, other]) await expectAnchors(house, testbed.chain, of, [false])
  })

  it('ATT-11 a push must name a receipt', async () => {
    for (const body of [
      {},
      { receipt_id: 5 },
      { receipt_id: null },
      { receipt_id: [locker.receiptId] },
      { receipt_id: '\0' },
      [],
      'null',
    ])
      expectRefusal(await ask({ body }), 422, 'validation_error')
  })

  it('ENV-07 ENV-13 T-04 a push is signed over the hash of its body, and accepted once', async () => {
    const body_sha256 = hash('sha256', JSON.stringify({ receipt_id: UNKNOWN }))
    expectRefusal(await ask({ envelope: { body_sha256 } }), 403, 'BODY_HASH_MISMATCH')
    const envelope = { nonce: 'ab'.repeat(16) }
    expect((await ask({ envelope })).status).toBe(200)
    expectRefusal(await ask({ envelope }), 403, 'NONCE_REPLAYED')
    await expectAnchors(house, testbed.chain, locker, [true])
  })
})

describe('what there must be to publish', () => {
  it('ATT-11 ERR-22 SHAPE-12 without an attestation a push answers 409 and says what to do', async () => {
    const own = await filledLocker(house)
    const none = await askToPush<{ hint: string }>(house, own)
    expectRefusal(none, 409, 'attestation_not_available')
    expect(none.body.hint).toContain(`POST /v1/storage/attest?receipt_id=${own.receiptId}`)
    await queueToAttest(house, own)
    const pending = await askToPush<{ hint: string }>(house, own)
    expectRefusal(pending, 409, 'attestation_not_available')
    expect(pending.body.hint).toContain('being computed')
    await house.gateway.context.queue.drain()
    expect(await push(house, own)).toMatchObject({ status: 'pushed' })
  })

  it('ATT-11 VER-15 a record of the oracle era has no statement to publish; the next attestation has one', async () => {
    const own = await filledLocker(house)
    const { context } = house.gateway
    const row = await findLockerOf(context.database.db, { locker_id: own.lockerId })
    await seedOracleRecord(context, row!)
    const before = await statusOf(house, own)
    expectRefusal(await askToPush(house, own), 409, 'attestation_not_available')
    expect(await statusOf(house, own)).toEqual(before)
    await attest(house, own)
    expect(await push(house, own)).toMatchObject({ status: 'pushed' })
    await expectAnchors(house, testbed.chain, own, [false, true])
  })
})
