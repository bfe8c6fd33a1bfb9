import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  type LockerHouse,
  openLockerHouse,
  type SignedCall,
  type TestLocker,
} from '../../auth/lockers.ts'
import { storeFile } from '../files.ts'
import { type ErrorReply, entryOf, sha256 } from './confirm.ts'

const owner = ed25519Identity()
const operator = ed25519Identity()
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(owner, { operators: [operator] })
})
afterAll(() => house.close())
beforeEach(async () => {
  await storeFile(house, locker, 'f', 'bytes', { isConfirmed: false })
})

const isConfirmed = async () => (await entryOf(locker, 'f'))?.status === 'confirmed'
const fields = () => ({ receipt_id: locker.receiptId, filename: 'f' })
const queryOf = (values: Record<string, string>) => `/v1/files/confirm?${new URLSearchParams(values)}`

function signed(who: Identity, changes: Partial<SignedCall> = {}) {
  const { receiptId, lockerId } = locker
  const call = { method: 'POST', path: '/v1/files/confirm', body: fields(), ops: ['locker:write'], receiptId, lockerId }
  return house.call<ErrorReply>(who, { ...call, ...changes })
}

async function expectInvalid(answer: Promise<{ status: number; body: ErrorReply }>, ...locs: string[]) {
  const { status, body } = await answer
  expect([status, body.error, body.detail?.map(({ loc }) => loc.join('.'))]).toEqual([422, 'validation_error', locs])
  expect(await isConfirmed()).toBe(false)
}

describe('confirming by body', () => {
  it('FILE-21 ENV-09 confirming by body works with an envelope of the owner or of an operator', async () => {
    for (const who of [owner, operator]) {
      await storeFile(house, locker, 'f', `bytes of ${who.identity}`, { isConfirmed: false })
      const { status, body } = await signed(who)
      expect([status, body]).toMatchObject([200, { ok: true, content_hash: sha256(`bytes of ${who.identity}`) }])
    }
  })

  it('FILE-21 ENV-11 confirming by body works for the owner of an EVM locker', async () => {
    const payer = evmIdentity()
    const theirs = await house.locker(payer)
    await storeFile(house, theirs, 'f', 'evm', { isConfirmed: false })
    const { receiptId } = theirs
    const body = { receipt_id: receiptId, filename: 'f' }
    expect((await signed(payer, { body, receiptId, lockerId: '' })).status).toBe(200)
  })

  it('AMB-05 ENV-19 confirming by body without an envelope answers 422 that names the headers', async () => {
    const headers = ['header.X-Svc-Envelope', 'header.X-Svc-Signature']
    await expectInvalid(house.send('POST', '/v1/files/confirm', fields()), ...headers)
    await expectInvalid(house.send('POST', '/v1/files/confirm', { filename: 'f' }), ...headers)
    const mixed = queryOf({ receipt_id: locker.receiptId })
    await expectInvalid(house.send('POST', mixed, { filename: 'f' }), ...headers)
  })

  it('AMB-05 one envelope header without the other answers 422 that names the missing one', async () => {
    const { headers, body } = house.sign(owner, { method: 'POST', path: '/v1/files/confirm', body: fields(), ops: [] })
    const { 'x-svc-signature': _, ...half } = headers as Record<string, string>
    await expectInvalid(house.send('POST', '/v1/files/confirm', body, half), 'header.X-Svc-Signature')
  })

  it('ENV-07 ENV-09 ENV-13 ENV-17 confirming by body refuses an invalid envelope', async () => {
    const call = { method: 'POST', path: '/v1/files/confirm', body: fields(), receiptId: locker.receiptId }
    expectRefusal(await signed(ed25519Identity()), 403, 'SIGNATURE_INVALID')
    expectRefusal(await signed(owner, { ops: ['locker:read'] }), 403, 'MISSING_OPS')
    expectRefusal(await signed(owner, { envelope: { path: '/v1/files/confirm-batch' } }), 403, 'PATH_MISMATCH')
    const { headers } = house.sign(owner, { ...call, ops: ['locker:write'] })
    const other = await house.send('POST', call.path, { ...fields(), filename: 'g' }, headers)
    expectRefusal(other, 403, 'BODY_HASH_MISMATCH')
    expect(await isConfirmed()).toBe(false)
    expect((await house.send('POST', call.path, fields(), headers)).status).toBe(200)
    expectRefusal(await house.send('POST', call.path, fields(), headers), 403, 'NONCE_REPLAYED')
  })

  it('AMB-05 confirming by body refuses an envelope for another receipt', async () => {
    const stranger = ed25519Identity()
    const theirs = await house.locker(stranger)
    const answer = await signed(stranger, { receiptId: theirs.receiptId, lockerId: theirs.lockerId })
    expectRefusal(answer, 401, 'RECEIPT_ID_MISMATCH')
    const unnamed = await signed(owner, { receiptId: '' })
    expectRefusal(unnamed, 401, 'RECEIPT_ID_MISMATCH')
    expect(await isConfirmed()).toBe(false)
  })
})

describe('confirming by query', () => {
  it('AMB-05 confirming by query verifies an envelope that is sent with it', async () => {
    const path = queryOf(fields())
    expectRefusal(await signed(ed25519Identity(), { path, body: undefined }), 403, 'SIGNATURE_INVALID')
    const theirs = await house.receipt(owner)
    const other = await signed(owner, { path, body: undefined, receiptId: theirs, lockerId: '' })
    expectRefusal(other, 401, 'RECEIPT_ID_MISMATCH')
    expect(await isConfirmed()).toBe(false)
    expect((await signed(owner, { path, body: undefined })).status).toBe(200)
  })

  it('FILE-20 ERR-24 FILE-31 confirming by query answers 422 that names the missing field', async () => {
    const missing = house.send<ErrorReply>('POST', '/v1/files/confirm')
    await expectInvalid(missing, 'query.receipt_id', 'query.filename')
    expect((await missing).body.details).toMatchObject({ layer: 'gateway', next_best_method: 'the same' })
    await expectInvalid(house.send('POST', queryOf({ filename: 'f' })), 'query.receipt_id')
    await expectInvalid(house.send('POST', queryOf({ receipt_id: locker.receiptId })), 'query.filename')
    await expectInvalid(signed(owner, { body: { receipt_id: locker.receiptId } }), 'body.filename')
    await expectInvalid(signed(owner, { body: { filename: 'f' } }), 'body.receipt_id')
  })

  it('AMB-05 confirming answers 422 where query and body differ', async () => {
    const path = queryOf(fields())
    await expectInvalid(house.send('POST', path, { filename: 'g' }), 'body.filename')
    const other = { receipt_id: 'rcpt_other', filename: 'g' }
    await expectInvalid(signed(owner, { path, body: other }), 'body.receipt_id', 'body.filename')
  })

  it('AMB-05 ADD-11 confirming by query takes a body with the same fields or with none', async () => {
    for (const body of [fields(), { filename: 'f' }, { ttl_min: 5 }, {}]) {
      expect((await house.send('POST', queryOf(fields()), body)).status).toBe(200)
    }
  })

  it('AMB-05 a signed confirmation may take one field from the query and one from the body', async () => {
    const path = queryOf({ receipt_id: locker.receiptId })
    expect((await signed(owner, { path, body: { filename: 'f' } })).status).toBe(200)
  })

  it('FILE-20 confirming refuses fields that are not text or are given twice', async () => {
    const twice = `${queryOf(fields())}&filename=g`
    await expectInvalid(house.send('POST', twice), 'query.filename')
    await expectInvalid(house.send('POST', queryOf({ ...fields(), filename: 'a\0b' })), 'query.filename')
    await expectInvalid(signed(owner, { body: { ...fields(), filename: 7 } }), 'body.filename')
    await expectInvalid(signed(owner, { body: [] }), 'body')
  })
})
