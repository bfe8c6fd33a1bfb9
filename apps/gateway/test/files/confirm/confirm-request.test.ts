import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type Reply,
  type SignedCall,
} from '@svc/devnet/services/test-gateway'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { storeFile } from '../files.ts'
import { confirm, confirmBatch, type ErrorReply, entryOf, sha256, upload, watchedStorage } from './confirm.ts'

const owner = ed25519Identity()
const operator = ed25519Identity()
const instance = forAllTests(openTestGateway)
const locker = forAllTests(() => instance.locker(owner, { operators: [operator] }))
beforeEach(async () => {
  await storeFile(instance, locker, 'f', 'bytes', { isConfirmed: false })
})

const PATH = '/v1/files/confirm'
const isConfirmed = async () => (await entryOf(locker, 'f'))?.status === 'confirmed'
const fields = () => ({ receipt_id: locker.receiptId, filename: 'f' })
const queryOf = (values: Record<string, string>) => `${PATH}?${new URLSearchParams(values)}`

function signed(who: Identity, changes: Partial<SignedCall> = {}) {
  const { receiptId, lockerId } = locker
  const call = { method: 'POST', path: PATH, body: fields(), ops: ['locker:write'], receiptId, lockerId }
  return instance.call<ErrorReply>(who, { ...call, ...changes })
}

async function expectInvalid(answer: Promise<{ status: number; body: ErrorReply }>, ...locs: string[]) {
  const { status, body } = await answer
  expect([status, body.error, body.detail?.map(({ loc }) => loc.join('.'))]).toEqual([422, 'validation_error', locs])
  expect(await isConfirmed()).toBe(false)
}

it('FILE-21 ENV-09 confirming by body works with an envelope of the owner or of an operator', async () => {
  for (const who of [owner, operator]) {
    await storeFile(instance, locker, 'f', `bytes of ${who.identity}`, { isConfirmed: false })
    const { status, body } = await signed(who)
    expect([status, body]).toMatchObject([200, { ok: true, content_hash: sha256(`bytes of ${who.identity}`) }])
  }
})

it('FILE-21 ENV-19 confirming by body without an envelope answers 422 and names the missing headers', async () => {
  const headers = ['header.X-Svc-Envelope', 'header.X-Svc-Signature']
  await expectInvalid(instance.send('POST', PATH, { filename: 'f' }), ...headers)
  const mixed = queryOf({ receipt_id: locker.receiptId })
  await expectInvalid(instance.send('POST', mixed, { filename: 'f' }), ...headers)
  const call = instance.sign(owner, { method: 'POST', path: PATH, body: fields(), ops: [] })
  const { 'x-svc-signature': _, ...half } = call.headers as Record<string, string>
  await expectInvalid(instance.send('POST', PATH, call.body, half), 'header.X-Svc-Signature')
})

it('ENV-07 ENV-13 confirming by body refuses an envelope for another request or a used one', async () => {
  expectRefusal(await signed(ed25519Identity()), 403, 'SIGNATURE_INVALID')
  expectRefusal(await signed(owner, { ops: ['locker:read'] }), 403, 'MISSING_OPS')
  expectRefusal(await signed(owner, { envelope: { path: `${PATH}-batch` } }), 403, 'PATH_MISMATCH')
  const { receiptId } = locker
  const call = { method: 'POST', path: PATH, body: fields(), receiptId, ops: ['locker:write'] }
  const { headers } = instance.sign(owner, call)
  const other = await instance.send('POST', PATH, { ...fields(), filename: 'g' }, headers)
  expectRefusal(other, 403, 'BODY_HASH_MISMATCH')
  expect(await isConfirmed()).toBe(false)
  expect((await instance.send('POST', PATH, fields(), headers)).status).toBe(200)
  expectRefusal(await instance.send('POST', PATH, fields(), headers), 403, 'NONCE_REPLAYED')
})

it('FILE-21 confirming by body refuses an envelope for another receipt', async () => {
  const anonymous = ed25519Identity()
  const { receiptId, lockerId } = await instance.locker(anonymous)
  expectRefusal(await signed(anonymous, { receiptId, lockerId }), 401, 'RECEIPT_ID_MISMATCH')
  expectRefusal(await signed(owner, { receiptId: '' }), 401, 'RECEIPT_ID_MISMATCH')
  expect(await isConfirmed()).toBe(false)
})

it('FILE-21 confirming by query verifies an envelope that is sent with it', async () => {
  const path = queryOf(fields())
  expectRefusal(await signed(ed25519Identity(), { path, body: undefined }), 403, 'SIGNATURE_INVALID')
  const receiptId = await instance.receipt(owner)
  const other = await signed(owner, { path, body: undefined, receiptId, lockerId: '' })
  expectRefusal(other, 401, 'RECEIPT_ID_MISMATCH')
  expect(await isConfirmed()).toBe(false)
  expect((await signed(owner, { path, body: undefined })).status).toBe(200)
})

it('FILE-20 ERR-24 confirming by query answers 422 and names the field that is missing, not text or repeated', async () => {
  const missing = instance.send<ErrorReply>('POST', PATH)
  await expectInvalid(missing, 'query.receipt_id', 'query.filename')
  expect((await missing).body.details).toMatchObject({ layer: 'gateway', next_best_method: 'the same' })
  await expectInvalid(instance.send('POST', queryOf({ filename: 'f' })), 'query.receipt_id')
  await expectInvalid(signed(owner, { body: { receipt_id: locker.receiptId } }), 'body.filename')
  await expectInvalid(instance.send('POST', `${queryOf(fields())}&filename=g`), 'query.filename')
  await expectInvalid(signed(owner, { body: { ...fields(), filename: 7 } }), 'body.filename')
})

it('FILE-21 confirming by query answers 422 when query and body differ', async () => {
  const path = queryOf(fields())
  await expectInvalid(instance.send('POST', path, { filename: 'g' }), 'body.filename')
  const other = { receipt_id: 'rcpt_other', filename: 'g' }
  await expectInvalid(signed(owner, { path, body: other }), 'body.receipt_id', 'body.filename')
})

it('FILE-21 ADD-11 confirming by query accepts a body with the same fields or none, and a signed request may split them', async () => {
  for (const body of [fields(), { filename: 'f' }, { ttl_min: 5 }, {}])
    expect((await instance.send('POST', queryOf(fields()), body)).status).toBe(200)
  const path = queryOf({ receipt_id: locker.receiptId })
  expect((await signed(owner, { path, body: { filename: 'f' } })).status).toBe(200)
})

async function openInstance(variables: Record<string, string>) {
  const storage = await watchedStorage()
  const instance = await openTestGateway(variables, { providers: storage.providers })
  onTestFinished(async () => {
    await instance.close()
    await storage.remove()
  })
  const locker = await instance.locker(ed25519Identity())
  await upload(instance, locker, 'f', 'bytes')
  return { instance, locker, storage }
}

function expectWait(answer: Reply<unknown>) {
  expectRefusal(answer, 429, 'RATE_LIMITED')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
}

it('T-10 FILE-21 confirmations of one receipt are limited before anything is read, and allowed after a wait', async () => {
  const { instance, locker, storage } = await openInstance({ RATE_LIMITS: 'receipt=3/min' })
  expect((await instance.send('POST', `/v1/files/confirm?receipt_id=${locker.receiptId}`)).status).toBe(422)
  for (let i = 0; i < 3; i++) expectRefusal(await confirm(instance, locker, 'no such file'), 404, 'FILE_NOT_FOUND')
  expectWait(await confirm(instance, locker, 'f'))
  expectWait(await confirmBatch(instance, locker, ['f']))
  expect(storage.reads).toEqual([])
  const other = await instance.locker(ed25519Identity())
  expectRefusal(await confirm(instance, other, 'f'), 404, 'FILE_NOT_FOUND')
  instance.clock.advance(20)
  expect((await confirm(instance, locker, 'f')).status).toBe(200)
})

it('T-10 unsigned confirmations from one address share a limit over all receipts, and a signer has a limit of their own', async () => {
  const { instance, locker } = await openInstance({ RATE_LIMITS: 'address=4/min,signer=2/min' })
  for (const receiptId of ['rcpt_1', 'rcpt_2', 'rcpt_3']) await confirm(instance, { receiptId }, 'f')
  expect((await confirmBatch(instance, locker, ['f', 'g', 'h'])).status).toBe(200)
  expectWait(await confirm(instance, locker, 'f'))
  const { receiptId, owner } = locker
  const body = { receipt_id: receiptId, filename: 'f' }
  const call = { method: 'POST', path: '/v1/files/confirm', body, ops: ['locker:write'], receiptId }
  // The first of the two calls created the file.
  expect((await instance.call(owner, call)).status).toBe(200)
  expectWait(await instance.call(owner, call))
})
