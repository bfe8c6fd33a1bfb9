import type { RefreshedLocker } from '@svc/api/lockers'
import { LockerMetadata, LockerRecord } from '@svc/api/lockers'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { lockerId as lockerIdOf } from '@svc/protocol/ids'
import { schemaCheck } from '@svc/service/http/validate'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const owner = ed25519Identity()
const operator = ed25519Identity()
let instance: TestGateway
let locker: TestLocker

beforeAll(async () => {
  instance = await openTestGateway()
  locker = await instance.locker(owner, { provider: 'storj', operators: [operator] })
  await locker.put('a.txt', 'ten bytes!')
  instance.clock.advance(100)
  await locker.put('b.txt', 'never confirmed', { confirm: false })
})
afterAll(() => instance.close())

const refresh = <Body>(body: unknown, { lockerId, receiptId } = locker) =>
  instance.call<Body>(owner, {
    method: 'POST',
    path: '/v1/storage/refresh',
    body,
    ops: ['locker:refresh'],
    lockerId,
    receiptId,
  })
const metadata = (of = locker) =>
  instance.call<LockerMetadata>(of.owner, {
    path: `/v1/storage/metadata/${of.lockerId}`,
    ops: ['locker:read'],
    lockerId: of.lockerId,
  })

function expectedRecord() {
  const { lockerId, receiptId } = locker
  const files = `/v1/lockers/${lockerId}/files`
  return {
    locker_id: lockerIdOf(receiptId),
    receipt_id: receiptId,
    owner: owner.identity,
    operators: [operator.identity],
    tags: [],
    provider: 'storj',
    network: 'primary-mainnet',
    sig_alg: 'ed25519',
    terms: instance.gateway.context.config.payments.terms.storj,
    created_at: '2026-09-01T12:00:00Z',
    expires_at: '2027-09-01T12:00:00Z',
    file_count: 2,
    total_bytes: 10,
    public_link: { status: 'open', id: receiptId },
    anchoring: 'each',
    settling: null,
    space: {
      locker_id: lockerId,
      file_api: { create: files, list: files, get: `${files}/{filename}`, delete: `${files}/{filename}` },
    },
  }
}

describe('the record', () => {
  it('LOCK-05 LOCK-03 the record has all facts of a locker and the paths of its files', async () => {
    const { status, body, headers } = await locker.call(['locker:read'], 'GET', '/record')
    expect(status).toBe(200)
    expect(body).toEqual(expectedRecord())
    expect(schemaCheck(LockerRecord)(body)).toBeNull()
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('LOCK-12 reading the record requires an envelope with locker:read or locker:list', async () => {
    expectRefusal(await instance.send('GET', `/v1/lockers/${locker.lockerId}/record`), 401, 'MISSING_ENVELOPE')
    expect((await locker.call(['locker:list'], 'GET', '/record')).body).toEqual(expectedRecord())
    expectRefusal(await locker.call(['locker:write', 'locker:admin'], 'GET', '/record'), 403, 'MISSING_OPS')
  })

  it('LOCK-01 T-28 a locker whose id belongs to another receipt is hidden from the payer of the first', async () => {
    const [payer, other] = [ed25519Identity(), ed25519Identity()]
    const { lockerId, receiptId } = await instance.locker(payer)
    const taken = { owner: other.identity, receipt_id: await instance.receipt(other) }
    const { db } = instance.gateway.context.database
    await writable(db).updateTable('lockers').set(taken).where('locker_id', '=', lockerId).execute()
    const call = { path: `/v1/lockers/${lockerId}/record`, ops: ['locker:read'], lockerId }
    expectRefusal(await instance.call(payer, { ...call, receiptId }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await instance.call(payer, call), 403, 'SIGNATURE_INVALID')
    expect((await instance.call(other, call)).status).toBe(200)
  })
})

describe('refreshing', () => {
  it('LOCK-10 LOCK-12 refreshing answers the record, whether or not the body repeats the ids', async () => {
    const { lockerId: locker_id, receiptId: receipt_id } = locker
    for (const body of [undefined, {}, { receipt_id }, { locker_id }, { receipt_id, locker_id }]) {
      const answer = await refresh(body)
      expect([answer.status, answer.body]).toEqual([200, expectedRecord()])
      expect(answer.headers.get('cache-control')).toBe('no-store')
    }
  })

  it('LOCK-10 LIM-01 refreshing with ttl_min also mints download URLs that work for that time', async () => {
    const own = await instance.locker(owner)
    await own.put('a', 'bytes of a')
    await own.call(['locker:write'], 'POST', '/files', { filename: 'b' })
    const { status, body } = await refresh<RefreshedLocker>({ ttl_min: 2 }, own)
    expect(status).toBe(200)
    expect(body).toMatchObject({ locker_id: own.lockerId, found: 1, not_found: ['b'], urls_expire_in_sec: 120 })
    const read = () => fetch(instance.gateway.url + new URL(body.urls![0]!.download_url).pathname)
    instance.clock.advance(119)
    expect(await (await read()).text()).toBe('bytes of a')
    instance.clock.advance(2)
    expect((await read()).status).toBe(403)
  })

  it('LOCK-10 ENV-12 refreshing is refused when body and envelope name different ids', async () => {
    const other = await instance.locker(owner)
    expectRefusal(await refresh({ receipt_id: other.receiptId }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await refresh({ locker_id: other.lockerId }), 401, 'LOCKER_ID_MISMATCH')
    expectRefusal(await refresh({ receipt_id: '' }), 401, 'RECEIPT_ID_MISMATCH')
    const both = { receipt_id: other.receiptId, locker_id: other.lockerId }
    expectRefusal(await refresh(both), 401, 'RECEIPT_ID_MISMATCH')
    expect((await refresh<LockerRecord>(both, other)).body.locker_id).toBe(other.lockerId)
  })

  it.each([
    [{ ttl_min: 1441 }, 'ttl_min'],
    [{ receipt_id: 5 }, 'receipt_id'],
  ])('GEN-08 LIM-01 refreshing with %j answers 422 and names the invalid field', async (body, field) => {
    const answer = await refresh(body)
    expectRefusal(answer, 422, 'validation_error')
    expect(answer.body).toMatchObject({ detail: [{ loc: ['body', field], type: 'value_error' }] })
  })
})

describe('metadata', () => {
  it('LOCK-11 metadata is the record without paths, with attestation and time of the last change', async () => {
    const { status, body, headers } = await metadata()
    const { space: _, ...facts } = expectedRecord()
    expect(status).toBe(200)
    expect(body).toMatchObject({ ...facts, attestation: null })
    const { last_manifest_change_at, attestation, ...rest } = body
    expect([rest, attestation]).toEqual([facts, null])
    expect(last_manifest_change_at).toBe('2026-09-01T12:01:40Z')
    expect(schemaCheck(LockerMetadata)(body)).toBeNull()
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('LOCK-11 metadata has the status of the attestation', async () => {
    const attested = await instance.locker(ed25519Identity())
    await attested.put('a', 'a')
    const { receiptId } = attested
    const path = `/v1/storage/attest?receipt_id=${receiptId}`
    const attest = (sync: string) =>
      instance.call(attested.owner, { method: 'POST', path: path + sync, ops: ['locker:attest'], receiptId })
    await attest('')
    const nothing = { evidence_seq: null, attested_at: null, proof_id: null }
    expect((await metadata(attested)).body.attestation).toEqual({ status: 'pending', ...nothing })
    await attest('&sync=true')
    const { body } = await metadata(attested)
    expect(body.attestation).toEqual({
      status: 'computed',
      evidence_seq: 1,
      attested_at: new Date(instance.clock.now()).toISOString().replace('.000Z', 'Z'),
      proof_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    })
    expect(schemaCheck(LockerMetadata)(body)).toBeNull()
  })

  it('LOCK-11 LOCK-12 reading metadata requires the op locker:read', async () => {
    const { lockerId } = locker
    const path = `/v1/storage/metadata/${lockerId}`
    expectRefusal(await instance.call(owner, { path, ops: ['locker:list'], lockerId }), 403, 'MISSING_OPS')
    expectRefusal(await instance.send('GET', path), 401, 'MISSING_ENVELOPE')
  })
})
