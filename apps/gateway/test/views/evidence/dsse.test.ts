import { type DsseAnswer, type DsseFormat, dsse } from '@svc/api/dsse'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { bare, toHex } from '@svc/protocol/bytes'
import type { DsseEnvelope, EvidencePredicate, SigstoreBundle } from '@svc/protocol/dsse'
import { type EvidenceEnvelope, isStatementSignedBy } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex, ed25519Signer } from '@svc/protocol/keys'
import { foldProof, leafHash, merkleRoot } from '@svc/protocol/merkle'
import { EVIDENCE_PREDICATE_TYPE } from '@svc/protocol/names'
import type { ShownFile } from '@svc/protocol/redacted-bundle'
import { schemaCheck } from '@svc/service/http/validate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { handOver } from '../../../src/keys/store.ts'
import { chainOfThree, type EvidenceGateway, memoAnchor, openEvidenceGateway } from './evidence-gateway.ts'
import { verifyAsSigstore } from './sigstore.ts'

const PATH = '/v1/storage/dsse'
const NEXT_SEED = '53'.repeat(32)
const OTHER_SIGNER = ed25519Signer(new Uint8Array(32).fill(9))

type Query = { filename?: string; sequence?: number; format?: DsseFormat }

/** The response with its text as sent. */
async function read(instance: EvidenceGateway, receiptId: string, query: Query = {}) {
  const fields = Object.entries({ receipt_id: receiptId, ...query }).map(([name, value]) => [name, String(value)])
  const response = await fetch(`${instance.gateway.url}${PATH}?${new URLSearchParams(fields)}`)
  return { response, text: await response.text() }
}

async function answer(instance: EvidenceGateway, receiptId: string, query: Query = {}): Promise<DsseAnswer> {
  const { response, text } = await read(instance, receiptId, query)
  expect(response.status, text).toBe(200)
  expect(schemaCheck(dsse.responses[200])(JSON.parse(text))).toBeNull()
  return JSON.parse(text)
}

async function refused(instance: EvidenceGateway, status: number, code: string, ...of: [string, Query?]) {
  const { response, text } = await read(instance, ...of)
  const body = JSON.parse(text)
  expectRefusal({ status: response.status, headers: response.headers, body }, status, code)
  return body as { hint?: string; detail?: { msg: string }[] }
}

interface InToto {
  subject: { name: string; digest: { sha256: string } }[]
  predicate: EvidencePredicate & { envelope: EvidenceEnvelope }
}

function statementIn(envelope: DsseAnswer): InToto {
  return JSON.parse(Buffer.from((envelope as DsseEnvelope).payload, 'base64').toString())
}

const keyOf = (instance: EvidenceGateway) => toHex(instance.gateway.context.signers.statement.publicKey)

forEachDatabase('statements as DSSE', (database) => {
  const instance = forAllTests(() => openEvidenceGateway({ DATABASE_URL: database.url }))
  const locker = forAllTests(() => chainOfThree(instance))

  const expected = (file: string) => {
    const publicKeyHex = keyOf(instance)
    return { keyId: issuerKeyId(publicKeyHex), publicKeyHex, predicateType: EVIDENCE_PREDICATE_TYPE, file }
  }

  it('DSSE-02 the statement about a whole locker lists its files as subjects, with the signed statement in its predicate', async () => {
    const { response } = await read(instance, locker.receipt_id)
    expect(response.headers.get('content-type')).toBe('application/vnd.dsse.envelope.v1+json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const { subject, predicate } = statementIn(await answer(instance, locker.receipt_id))
    expect(subject.map(({ name }) => name)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    expect(predicate.files.map(({ filename, content_hash }) => [filename, content_hash])).toEqual(
      subject.map(({ name, digest }) => [name, digest.sha256]),
    )
    const { envelope } = predicate
    expect(merkleRoot(predicate.files.map(leafHash))).toBe(bare(envelope.body.merkle_root))
    const key = ed25519PublicKeyFromHex(keyOf(instance))!
    expect(isStatementSignedBy(key, envelope, instance.gateway.context.config.evidence.domainTag)).toBe(true)

    const second = statementIn(await answer(instance, locker.receipt_id, { sequence: 2 }))
    expect(second.subject.map(({ name }) => name)).toEqual(['a.txt', 'b.txt'])
    expect(second.predicate.envelope.body.sequence).toBe(2)
  })

  it('DSSE-03 the statement about one file has a single subject, with its leaf and Merkle proof in the predicate', async () => {
    const { subject, predicate } = statementIn(await answer(instance, locker.receipt_id, { filename: 'b.txt' }))
    expect(subject.map(({ name }) => name)).toEqual(['b.txt'])
    const [file] = predicate.files as [ShownFile]
    expect(file.leaf_index).toBe(1)
    expect(foldProof(leafHash(file), file.proof)).toBe(bare(predicate.envelope.body.merkle_root))
  })

  it('DSSE-04 DSSE-05 a Sigstore verifier accepts the bundle for its file and key only', async () => {
    const query = { format: 'sigstore-bundle', filename: 'b.txt' } as const
    const { response, text } = await read(instance, locker.receipt_id, query)
    expect(response.headers.get('content-type')).toBe('application/vnd.dev.sigstore.bundle.v0.3+json')
    const bundle: SigstoreBundle = JSON.parse(text)
    expect(verifyAsSigstore(bundle, expected('two')).name).toBe('b.txt')
    const whole = await answer(instance, locker.receipt_id, { format: 'sigstore-bundle' })
    expect(['one', 'two', 'three'].map((file) => verifyAsSigstore(whole, expected(file)).name)).toEqual([
      'a.txt',
      'b.txt',
      'c.txt',
    ])

    const otherKey = { publicKeyHex: toHex(OTHER_SIGNER.publicKey) }
    expect(() => verifyAsSigstore(bundle, { ...expected('two'), ...otherKey })).toThrow('signature verification failed')
    expect(() => verifyAsSigstore(bundle, expected('three'))).toThrow('not about this file')
  })
})

it('DSSE-06 T-14 an envelope is signed once and repeated until a final anchor or a new key changes it', async () => {
  const instance = await openEvidenceGateway({ STATEMENT_KEY_NEXT: NEXT_SEED })
  onTestFinished(instance.close)
  const own = await chainOfThree(instance)
  const { context } = instance.gateway
  const current = await context.statementKeys.current()
  const texts = await Promise.all(Array.from({ length: 8 }, async () => (await read(instance, own.receipt_id)).text))
  expect(new Set(texts).size).toBe(1)
  const sign = current.sign
  current.sign = async () => {
    throw new Error('signed again')
  }
  expect((await read(instance, own.receipt_id)).text).toBe(texts[0])
  current.sign = sign

  const anchorIn = async () => statementIn(await answer(instance, own.receipt_id)).predicate.anchor
  await instance.state(own, { anchor: (envelope) => memoAnchor(envelope) })
  expect(await anchorIn()).toBeNull()
  await instance.state(own, { anchor: (envelope) => ({ ...memoAnchor(envelope, { finalized: true }), account: 'x' }) })
  const shown = await anchorIn()
  expect(shown).toMatchObject({ type: 'chain_memo_v2', finalized: true })
  expect(shown).not.toHaveProperty('account')

  const from = keyOf(instance)
  const next = toHex(ed25519Signer(Buffer.from(NEXT_SEED, 'hex')).publicKey)
  const at = new Date(instance.clock.now()).toISOString()
  await writable(context.database.db)
    .transaction()
    .execute((tx) => handOver(tx, { from, to: next, at }))
  const renewed = await answer(instance, own.receipt_id, { format: 'sigstore-bundle' })
  const byNext = { keyId: issuerKeyId(next), publicKeyHex: next, predicateType: EVIDENCE_PREDICATE_TYPE, file: 'one' }
  const { predicate } = verifyAsSigstore(renewed, byNext)
  expect(predicate.envelope.issuer_pubkey).toBe(from)
})

describe('refusals to sign in another format', () => {
  const instance = forAllTests(() => openEvidenceGateway({ RATE_LIMITS: 'receipt=12/min' }))

  it('DSSE-07 reports that a file is not in the statement', async () => {
    const { receipt_id } = await chainOfThree(instance)
    await refused(instance, 404, 'FILE_NOT_ATTESTED', receipt_id, { filename: 'z.txt' })
    await refused(instance, 404, 'FILE_NOT_ATTESTED', receipt_id, { filename: 'b.txt', sequence: 1 })
    await refused(instance, 422, 'validation_error', receipt_id, { format: 'jws' as DsseFormat })
    await refused(instance, 422, 'validation_error', receipt_id, { filename: '' })
  })

  it('DSSE-08 DSSE-02 a locker with too many files for one message is proven file by file', async () => {
    for (const count of [1000, 1001]) {
      const { receipt_id, ...locker } = await instance.listed(count)
      await instance.state({ receipt_id, ...locker })
      const { detail } = await refused(instance, 422, 'validation_error', receipt_id)
      expect(detail?.[0]?.msg).toContain('more files than fit')
      await answer(instance, receipt_id, { filename: 'folder-0000/file-0000003.txt' })
    }
  })

  it('T-14 refuses a statement that no key of this gateway has signed', async () => {
    const foreign = await instance.filled({ 'a.txt': 'a' })
    await instance.state(foreign, { signer: OTHER_SIGNER })
    await refused(instance, 409, 'attestation_not_available', foreign.receipt_id)

    const changed = await chainOfThree(instance)
    const { db } = instance.gateway.context.database
    const { record } = (await instance.state(changed)) as { record: object }
    await writable(db)
      .updateTable('statements')
      .set({ record: JSON.stringify(record).replaceAll('"file_count":3', '"file_count":2') })
      .where('receipt_id', '=', changed.receipt_id)
      .execute()
    await refused(instance, 409, 'attestation_not_available', changed.receipt_id)
  })

  it('T-14 the envelope does not reveal the receipt', async () => {
    const locker = await instance.filled({ 'a.txt': 'a' })
    await locker.put(`of-${locker.receipt_id}.txt`, 'x')
    await instance.state(locker)
    const { payload } = (await answer(instance, locker.receipt_id, { filename: 'a.txt' })) as DsseEnvelope
    const text = Buffer.from(payload, 'base64').toString()
    for (const hidden of [locker.receipt_id, locker.locker_id]) expect(text).not.toContain(hidden)
    await refused(instance, 422, 'validation_error', locker.receipt_id, { filename: `of-${locker.receipt_id}.txt` })
    await refused(instance, 422, 'validation_error', locker.receipt_id)
  })

  it('T-14 counts each new signature as a request, but not a repeated one', async () => {
    const locker = await instance.listed(12)
    await instance.state(locker)
    const statusOf = async (query: Query) => (await read(instance, locker.receipt_id, query)).response.status
    const asked = Array.from({ length: 12 }, (_, i) => ({
      filename: `folder-0000/file-${String(i).padStart(7, '0')}.txt`,
    }))
    for (const query of asked) expect(await statusOf(query)).toBe(200)
    expect(await statusOf({})).toBe(429)
    for (const query of asked) expect(await statusOf({ ...query, format: 'sigstore-bundle' })).toBe(200)
  })
})
