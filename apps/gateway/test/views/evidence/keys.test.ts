import type { Anchor } from '@svc/api/attestations'
import type { VerifyAnswer } from '@svc/api/evidence'
import { statementSigner } from '@svc/devnet/services/statement-signer'
import { writable } from '@svc/devnet/writable'
import { toHex } from '@svc/protocol/bytes'
import { type EvidenceEnvelope, isoSeconds } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { unixNow } from '../../../src/context.ts'
import { activateSigningKey } from '../../../src/keys/store.ts'
import { revokeKey } from '../../../src/views/admin/keys/revoke-key.ts'
import { type EvidenceGateway, memoAnchor, openEvidenceGateway } from './evidence-gateway.ts'

const DAY = 86_400
const NEXT = ed25519Signer(new Uint8Array(32).fill(9))
const OTHER_SIGNER = ed25519Signer(new Uint8Array(32).fill(10))

let instance: EvidenceGateway
const signatureOf = async (receipt_id: string, path = '/v1/storage/verify') =>
  (await instance.get<VerifyAnswer>(path, { receipt_id })).verification.signature_valid
/** Changes the key as a restart with another key does. */
async function changeKey(signer: typeof NEXT) {
  const { context } = instance.gateway
  await activateSigningKey(writable(context.database.db), toHex(signer.publicKey), isoSeconds(unixNow(context)))
}
beforeEach(async () => {
  instance = await openEvidenceGateway()
})
afterEach(() => instance.close())

it('VER-05 EVID-18 the gateway reports the signature of a key that it never had as failed', async () => {
  const locker = await instance.listed(2)
  await instance.state(locker, { signer: OTHER_SIGNER })
  for (const path of ['/v1/storage/verify', '/v1/retrieve', '/v1/storage/evidence-bundle', '/v1/self-verify']) {
    expect(await signatureOf(locker.receipt_id, path), path).toBe('failed')
  }
})

it('ADD-07 VER-05 the gateway checks each statement with the key of its time, before and after a key change', async () => {
  const [before, after, atTheft, tooEarly] = await Promise.all([1, 2, 3, 4].map((count) => instance.listed(count)))
  await instance.state(before!)
  await instance.state(tooEarly!, { signer: NEXT })
  instance.clock.advance(DAY)
  await changeKey(NEXT)
  instance.clock.advance(DAY)
  await instance.state(after!, { signer: NEXT })
  await expect(instance.state(atTheft!)).rejects.toMatchObject({ code: 'signing_key_unavailable' })
  await instance.state(atTheft!, { signer: statementSigner(instance.gateway.context) })
  const valid = [before!, after!, atTheft!, tooEarly!].map(({ receipt_id }) => signatureOf(receipt_id))
  expect(await Promise.all(valid)).toEqual(['passed', 'passed', 'failed', 'failed'])
})

it('ADD-07 the gateway accepts the old key for a grace period after a change, because old replicas still sign with it', async () => {
  const locker = await instance.listed(1)
  const statement = statementSigner(instance.gateway.context)
  await changeKey(statement)
  instance.clock.advance(DAY)
  await changeKey(NEXT)
  instance.clock.advance(60)
  await instance.state(locker, { signer: statement })
  expect(await signatureOf(locker.receipt_id)).toBe('passed')
})

it('T-40 ADD-39 a revoked key stays valid only for statements in blocks before the theft and for older receipts', async () => {
  const { context } = instance.gateway
  const stolen = statementSigner(context)
  await changeKey(stolen)
  const since = unixNow(context) + 1000
  const final = (envelope: EvidenceEnvelope) => memoAnchor(envelope, { finalized: true })
  /** Attests a locker this many seconds before the theft, and returns its receipt id. */
  async function attestBefore(seconds: number, anchor?: (envelope: EvidenceEnvelope) => Anchor): Promise<string> {
    instance.clock.advance(since - seconds - unixNow(context))
    const locker = await instance.listed(1)
    await instance.state(locker, { signer: stolen, ...(anchor && { anchor }) })
    return locker.receipt_id
  }
  const logged = await attestBefore(900)
  await context.publishLog()
  await anchorLog(since - 880)
  const receipts = {
    logged,
    final: await attestBefore(800, final),
    notYetFinal: await attestBefore(700, memoAnchor),
    bare: await attestBefore(600),
    atTheft: await attestBefore(1, final),
    after: await attestBefore(-60, (envelope) => ({ ...final(envelope), block_time: since - 500 })),
  }
  const each = async <Value>(of: (receiptId: string) => Promise<Value>) => {
    const found = Object.entries(receipts).map(async ([name, receiptId]) => [name, await of(receiptId)] as const)
    return Object.fromEntries(await Promise.all(found))
  }
  instance.clock.advance(600)
  await changeKey(NEXT)
  const before = await each((receiptId) => signatureOf(receiptId))
  expect(new Set(Object.values(before))).toEqual(new Set(['passed']))

  const next = { publicKey: NEXT.publicKey, sign: async (message: Uint8Array) => NEXT.sign(message) }
  const replica = { ...context, statementKeys: { ...context.statementKeys, signerOf: () => next } }
  const order = { keyId: issuerKeyId(toHex(stolen.publicKey)), since, reason: 'stolen', recovery: null }
  await revokeKey(replica, { identity: 'test' }, order)
  expect(await each((receiptId) => signatureOf(receiptId))).toEqual({
    logged: 'passed',
    final: 'passed',
    notYetFinal: 'failed',
    bare: 'failed',
    atTheft: 'failed',
    after: 'failed',
  })
  const valid = async (receiptId: string) =>
    (await instance.get<{ valid: boolean }>(`/v1/receipts/${receiptId}/verify`)).valid
  expect(await each(valid)).toMatchObject({ logged: true, bare: true, atTheft: true, after: false })
})

/** Records that a block of this time contains the newest checkpoint. */
async function anchorLog(blockTime: number): Promise<void> {
  const { db } = instance.gateway.context.database
  const { size } = await db
    .selectFrom('log_checkpoints')
    .select('size')
    .orderBy('size', 'desc')
    .executeTakeFirstOrThrow()
  const row = { tx: 'anchor', size, payload: '{}', signer: 'signer', raw: '', last_valid_height: 1, slot: 1 }
  const times = { block_time: blockTime, fee_lamports: 5000, sent_at: blockTime }
  await writable(db)
    .insertInto('log_anchors')
    .values({ ...row, ...times, state: 'finalized' })
    .execute()
}
