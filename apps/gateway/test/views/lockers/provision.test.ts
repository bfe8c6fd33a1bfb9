import { ProvisionManifest } from '@svc/api/lockers'
import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type SignedCall,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { lockerId as lockerIdOf } from '@svc/protocol/ids'
import { schemaCheck } from '@svc/service/http/validate'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { PROVISION, provisionAt, SIGNED_PROVISION } from './provision.ts'

const instance = forAllTests(() => openTestGateway())

const open = (owner: Identity, receiptId: string, body?: object, call?: Partial<SignedCall>) =>
  provisionAt(instance, owner, receiptId, body, call)

async function openNew(body: object = {}, owner = ed25519Identity()) {
  return open(owner, await instance.receipt(owner), body)
}

describe('opening a locker', () => {
  it.each([SIGNED_PROVISION, PROVISION])('LOCK-02 STATE-05 the payer opens a locker by %s', async (path) => {
    for (const owner of [ed25519Identity(), evmIdentity()]) {
      const receiptId = await instance.receipt(owner, { provider: 'mongodb' })
      const { status, body, headers } = await open(owner, receiptId, { tags: ['a', 'ü'] }, { path })
      const lockerId = lockerIdOf(receiptId)
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(body).toMatchObject({
        ok: true,
        receipt_id: receiptId,
        already_provisioned: false,
        space: { locker_id: lockerId, file_api: { create: `/v1/lockers/${lockerId}/files` } },
        owner: owner.identity,
        operators: [],
        tags: ['a', 'ü'],
        provider: 'mongodb',
        terms: instance.gateway.context.config.payments.terms.mongodb,
        files: [],
        expires_at: '2027-09-01T12:00:00Z',
      })
      expect(schemaCheck(ProvisionManifest)(body)).toBeNull()
    }
  })

  it('LOCK-09 LOCK-16 opening a locker again answers the existing one with its tags and files', async () => {
    const owner = ed25519Identity()
    const locker = await instance.locker(owner)
    await locker.put('a.txt', 'abc')
    const first = await open(owner, locker.receiptId, { tags: ['late'] })
    expect(first.body).toMatchObject({ already_provisioned: true, tags: [], operators: [], owner: owner.identity })
    expect(first.body.files).toMatchObject([{ filename: 'a.txt', size_bytes: 3, status: 'confirmed' }])
    expect(schemaCheck(ProvisionManifest)(first.body)).toBeNull()
    expect((await open(owner, locker.receiptId)).body).toEqual(first.body)
    expect((await open(owner, locker.receiptId, {}, { path: PROVISION })).body).toEqual(first.body)
  })

  it('LOCK-16 neither provisioning by others, nor operators, nor any field of a request changes the owner', async () => {
    const [owner, operator, outsider] = [ed25519Identity(), ed25519Identity(), ed25519Identity()]
    const { receiptId, lockerId, call } = await instance.locker(owner, { operators: [operator] })
    const claim = { owner: operator.identity, owner_identity: operator.identity, payer_pubkey: operator.identity }
    expectRefusal(await open(outsider, receiptId, claim), 403, 'SIGNATURE_INVALID')
    expectRefusal(await open(operator, receiptId, claim), 403, 'OWNER_REQUIRED')
    expect((await open(owner, receiptId, claim)).body).toMatchObject({
      already_provisioned: true,
      owner: owner.identity,
    })
    const refresh = { method: 'POST', path: '/v1/storage/refresh', body: claim, ops: ['locker:refresh'], lockerId }
    expect((await instance.call(owner, refresh)).body).toMatchObject({ owner: owner.identity })
    await call(['locker:admin'], 'POST', '/operators', { pubkey: outsider.identity, ...claim })
    for (const method of ['PUT', 'POST', 'PATCH', 'DELETE'])
      expect((await call(['locker:admin', 'locker:write'], method, '/record', claim)).status).toBe(405)
    expect((await call(['locker:read'], 'GET', '/record')).body).toMatchObject({ owner: owner.identity })
  })

  it('PAY-30 LIM-07 a locker gets the terms of its quote after the configured ones changed', async () => {
    const owner = ed25519Identity()
    const receiptId = await instance.receipt(owner)
    const terms = { storage_limit_bytes: 11, file_limit: 12, egress_included_bytes: 13, ttl_days: 14 }
    const quote = JSON.stringify({ extensions: { svc: { terms } } })
    const { db } = instance.gateway.context.database
    const { pay_req_id: payReqId } = await db
      .selectFrom('receipts')
      .select('pay_req_id')
      .where('receipt_id', '=', receiptId)
      .executeTakeFirstOrThrow()
    await writable(db).updateTable('pay_requests').set({ quote }).where('pay_req_id', '=', payReqId).execute()
    expect((await open(owner, receiptId)).body).toMatchObject({ terms, expires_at: '2026-09-15T12:00:00Z' })
  })

  it('LOCK-04 only the payer of an existing receipt opens its locker', async () => {
    const owner = ed25519Identity()
    const receiptId = await instance.receipt(owner)
    expectRefusal(await open(ed25519Identity(), receiptId), 403, 'SIGNATURE_INVALID')
    expectRefusal(await open(evmIdentity(), receiptId), 403, 'SIGNATURE_INVALID')
    expectRefusal(await open(owner, 'rcpt_of_nobody'), 404, 'receipt_not_found')
    expectRefusal(await open(owner, receiptId, {}, { ops: ['locker:admin', 'locker:write'] }), 403, 'MISSING_OPS')
    expect((await open(owner, receiptId)).body.already_provisioned).toBe(false)
  })

  it('AMB-04 the ids of the envelope are checked before the signature, and the body last', async () => {
    const [owner, outsider] = [ed25519Identity(), ed25519Identity()]
    const receiptId = await instance.receipt(owner)
    const lockerId = 'locker_000000000000'
    const attempt = (who: Identity, call: Partial<SignedCall>) => open(who, receiptId, { receipt_id: 5 }, call)
    expectRefusal(await attempt(outsider, { receiptId: '', lockerId }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await attempt(outsider, { receiptId: 'rcpt_of_nobody', lockerId }), 401, 'LOCKER_ID_MISMATCH')
    expectRefusal(await attempt(outsider, { receiptId: 'rcpt_of_nobody' }), 404, 'receipt_not_found')
    expectRefusal(await attempt(outsider, {}), 403, 'SIGNATURE_INVALID')
    expectRefusal(await attempt(owner, { ops: [] }), 403, 'MISSING_OPS')
    expectRefusal(await attempt(owner, {}), 422, 'validation_error')
  })

  it('ENV-12 the envelope must name the receipt of the body, and its locker or none', async () => {
    const owner = ed25519Identity()
    const [receiptId, otherId] = [await instance.receipt(owner), await instance.receipt(owner)]
    expectRefusal(await open(owner, receiptId, {}, { receiptId: '' }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await open(owner, receiptId, {}, { receiptId: otherId }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await open(owner, receiptId, { receipt_id: otherId }), 401, 'RECEIPT_ID_MISMATCH')
    const otherLocker = { lockerId: lockerIdOf(otherId) }
    expectRefusal(await open(owner, receiptId, {}, otherLocker), 401, 'LOCKER_ID_MISMATCH')
    expect((await open(owner, receiptId, {}, { lockerId: lockerIdOf(receiptId) })).status).toBe(200)
    expect((await open(owner, otherId)).body.already_provisioned).toBe(false)
  })
})

describe('tags', () => {
  it.each([[['']], [Array(32).fill('😀'.repeat(64))]])('LOCK-02 the tags %j are stored unchanged', async (tags) => {
    expect((await openNew({ tags })).body.tags).toEqual(tags)
  })

  it.each([
    [Array(33).fill('x'), ['body', 'tags']],
    [['x'.repeat(65)], ['body', 'tags', 0]],
    [null, ['body', 'tags']],
  ])('LOCK-02 GEN-08 the tags %j are a 422', async (tags, loc) => {
    const answer = await openNew({ tags })
    expectRefusal(answer, 422, 'validation_error')
    expect(answer.body).toMatchObject({ detail: [{ loc }] })
  })
})

describe('an operator named in the request', () => {
  it('LOCK-06 LOCK-02 an operator named in the request may act immediately', async () => {
    const [owner, operator] = [ed25519Identity(), ed25519Identity()]
    const { body } = await openNew({ operator_pubkey: operator.identity }, owner)
    expect(body.operators).toEqual([operator.identity])
    const { locker_id: lockerId } = body.space
    const call = { method: 'POST', path: `/v1/lockers/${lockerId}/files`, ops: ['locker:write'], lockerId }
    expect((await instance.call(operator, { ...call, body: { filename: 'a' } })).status).toBe(200)
  })

  it('LOCK-06 LOCK-09 an operator named in a repeated request is added to the existing locker once', async () => {
    const owner = ed25519Identity()
    const [first, second] = [ed25519Identity().identity, ed25519Identity().identity]
    const receiptId = await instance.receipt(owner)
    const operators = async (operator_pubkey: string) =>
      (await open(owner, receiptId, { operator_pubkey })).body.operators
    expect(await operators(first)).toEqual([first])
    expect(await operators(second)).toEqual([first, second])
    expect(await operators(first)).toEqual([first, second])
  })

  it('LOCK-06 OPER-01 no locker is opened when the operator key is invalid', async () => {
    const owner = ed25519Identity()
    const receiptId = await instance.receipt(owner)
    for (const operator_pubkey of [null, evmIdentity().identity]) {
      const answer = await open(owner, receiptId, { operator_pubkey })
      expectRefusal(answer, 422, 'validation_error')
      const { detail } = answer.body as unknown as { detail: { loc: string[] }[] }
      for (const { loc } of detail) expect(loc).toEqual(['body', 'operator_pubkey'])
    }
    expect((await open(owner, receiptId)).body).toMatchObject({ already_provisioned: false, operators: [] })
  })
})

it('LOCK-08 ERR-25 an owner cannot exceed the limit, and may repeat a request for an existing locker', async () => {
  const capped = await openTestGateway({ MAX_LOCKERS_PER_OWNER: '1' })
  const owner = ed25519Identity()
  const [first, second] = [await capped.receipt(owner), await capped.receipt(owner)]
  expect((await provisionAt(capped, owner, first)).status).toBe(200)
  const refused = await provisionAt(capped, owner, second)
  expectRefusal(refused, 429, 'LOCKER_LIMIT_EXCEEDED')
  expect(refused.body).toMatchObject({ hint: expect.any(String), details: { receipt_id: second, limit: 1 } })
  expect((await provisionAt(capped, owner, first)).body.already_provisioned).toBe(true)
  const other = ed25519Identity()
  expect((await provisionAt(capped, other, await capped.receipt(other))).status).toBe(200)
  await capped.close()
})

describe('provisioning without an envelope', () => {
  it('LOCK-07 ENV-19 a request without an envelope opens no locker, whatever its body', async () => {
    const owner = ed25519Identity()
    const receipt_id = await instance.receipt(owner)
    for (const body of [{ receipt_id }, {}, '{', undefined, { receipt_id: 'rcpt_of_nobody' }]) {
      expectRefusal(await instance.send('POST', PROVISION, body), 401, 'MISSING_ENVELOPE')
    }
    expectRefusal(await instance.send('POST', SIGNED_PROVISION, { receipt_id }), 422, 'validation_error')
    expect((await provisionAt(instance, owner, receipt_id)).body.already_provisioned).toBe(false)
  })

  it('LOCK-07 production refuses to start with public provisioning', () => {
    const settings = { SVC_MODE: 'production', ALLOW_PUBLIC_PROVISION: 'true' }
    expect(() => readConfig(settings)).toThrow('ALLOW_PUBLIC_PROVISION')
    expect(() => readConfig({ SVC_MODE: 'production' })).not.toThrow('ALLOW_PUBLIC_PROVISION')
  })

  describe('on a development gateway that allows it', () => {
    const openInstance = forAllTests(() => openTestGateway({ ALLOW_PUBLIC_PROVISION: 'true' }))
    const send = (body: object, headers?: Record<string, string>) =>
      openInstance.send<ProvisionManifest>('POST', PROVISION, body, headers)

    it('LOCK-07 with public provisioning, any caller who knows a receipt can open its locker for the payer', async () => {
      const [owner, operator] = [ed25519Identity(), ed25519Identity()]
      const receipt_id = await openInstance.receipt(owner)
      const { status, body } = await send({ receipt_id, tags: ['t'], operator_pubkey: operator.identity })
      expect([status, body]).toMatchObject([
        200,
        { already_provisioned: false, owner: owner.identity, operators: [operator.identity], tags: ['t'] },
      ])
      expectRefusal(await send({ receipt_id: 'rcpt_of_nobody' }), 404, 'receipt_not_found')
      expectRefusal(await send({}), 422, 'validation_error')
      expectRefusal(await openInstance.send('POST', SIGNED_PROVISION, { receipt_id }), 422, 'validation_error')
    })

    it('LOCK-07 T-28 public provisioning adds no operator to an existing locker', async () => {
      const owner = ed25519Identity()
      const { receiptId, call } = await openInstance.locker(owner)
      const outsider = ed25519Identity()
      const { body } = await send({ receipt_id: receiptId, operator_pubkey: outsider.identity, tags: ['x'] })
      expect(body).toMatchObject({ already_provisioned: true, operators: [], tags: [] })
      expectRefusal(await call(['locker:read'], 'GET', '/record', undefined, outsider), 403, 'SIGNATURE_INVALID')
    })

    it('LOCK-07 GEN-05 public provisioning still checks an envelope that is sent', async () => {
      const owner = ed25519Identity()
      const receiptId = await openInstance.receipt(owner)
      const call = { path: PROVISION }
      expectRefusal(await provisionAt(openInstance, ed25519Identity(), receiptId, {}, call), 403, 'SIGNATURE_INVALID')
      const body = { receipt_id: receiptId }
      expectRefusal(await send(body, { 'x-svc-envelope': 'e30' }), 422, 'validation_error')
      expectRefusal(await send(body, { 'x-svc-signature': '1' }), 422, 'validation_error')
      expectRefusal(await send(body, { 'x-svc-envelope': '', 'x-svc-signature': '' }), 422, 'validation_error')
      expect((await provisionAt(openInstance, owner, receiptId, {}, call)).body.already_provisioned).toBe(false)
    })
  })
})
