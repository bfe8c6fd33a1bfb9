import { rm } from 'node:fs/promises'
import { forEachDatabase } from '@svc/devnet/databases'
import { isManifestSignedBy } from '@svc/protocol/attestation'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import { type EvidenceEnvelope, isStatementSignedBy } from '@svc/protocol/evidence'
import { attCode } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { askToAttest, attest, expectChain, objectPath, statementsOf, statusOf } from './attest.ts'

const BODY_KEYS = [
  'check_mode',
  'file_count',
  'issued_at',
  'issued_at_unix',
  'issuer_key_id',
  'manifest_digest',
  'manifest_file_count',
  'merkle_algorithm',
  'merkle_root',
  'nonce',
  'policy_version',
  'prev_statement_digest',
  'proof_id',
  'schema',
  'sequence',
  'snapshot_id',
  'total_bytes',
]

forEachDatabase('attesting in the request', (database) => {
  let house: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await openLockerHouse({ DATABASE_URL: database.url })
  })
  afterAll(() => house.close())
  beforeEach(async () => {
    locker = await house.locker(ed25519Identity())
  })

  it('ATT-01 ATT-02 ATT-06 ATT-08 SHAPE-10 AMB-83 answers with the whole record', async () => {
    await locker.put('b.txt', 'two')
    await locker.put('a.txt', 'hello\n', { contentType: 'text/markdown' })
    const { attestation, ...answer } = await attest(house, locker)
    const { receiptId: receipt_id, lockerId: locker_id } = locker
    const { baseUrl } = house.gateway.context.config.http
    expect(answer).toEqual({
      ok: true,
      receipt_id,
      locker_id,
      attestation_status: 'computed',
      unchanged: false,
      att_code: attCode(attestation.result_hash),
      push_result: { status: 'skipped', anchor: null, anchor_type: null, reason: 'no_feed_configured', error: null },
      verify_url: `${baseUrl}/v1/storage/verify?receipt_id=${receipt_id}`,
    })
    const { files, envelope, ...fields } = attestation
    expect(files).toEqual([
      {
        filename: 'a.txt',
        size_bytes: 6,
        content_hash: 'sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
        content_type: 'text/markdown',
      },
      { filename: 'b.txt', size_bytes: 3, content_hash: expect.stringMatching(/^sha256:/), content_type: 'text/plain' },
    ])
    expect(fields).toEqual({
      receipt_id,
      locker_id,
      result_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      merkle_root: `sha256:${merkleRoot(files.map(leafHash))}`,
      manifest_signature: expect.stringMatching(/^[0-9a-f]{128}$/),
      file_count: 2,
      total_bytes: 9,
      attestation_status: 'computed',
      attested_at: '2026-09-01T12:00:00Z',
      schema_version: '1.0',
      oracle_slot: null,
      oracle_tx: null,
      oracle_feed: null,
      proof_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      snapshot_id: envelope!.body.snapshot_id,
      evidence_seq: 1,
      anchor: null,
      check_mode: 'recorded_hashes',
      manifest_file_count: 2,
      files_skipped: 0,
    })
    expect(Object.keys(envelope!.body).sort()).toEqual(BODY_KEYS)
    expect(attestation.proof_id).not.toBe(receipt_id)
  })

  it('EVID-08 EVID-17 EVID-18 EVID-22 RCPT-07 AMB-91 signs the record as version 1 did, and the envelope, with the key of receipts', async () => {
    await locker.put('a', 'a')
    const { attestation } = await attest(house, locker)
    const { config } = house.gateway.context
    const envelope = attestation.envelope as EvidenceEnvelope
    const { keys } = (await house.send<{ keys: { use: string; public_key_hex: string }[] }>('GET', '/v1/keys')).body
    const { public_key_hex } = keys.find(({ use }) => use === 'receipt')!
    const receipt = (await house.send<SignedReceipt>('GET', `/v1/receipts/${locker.receiptId}`)).body
    expect(receipt.receipt_signer_pubkey).toBe(public_key_hex)
    const key = ed25519PublicKeyFromHex(public_key_hex)!
    expect(isReceiptSignedBy(key, receipt)).toBe(true)
    expect(isStatementSignedBy(key, envelope, config.evidence.domainTag)).toBe(true)
    expect(isManifestSignedBy(key, attestation.merkle_root, attestation.manifest_signature)).toBe(true)
    expect(envelope.sig_alg).toBe('ed25519')
    // What is stored is what was signed.
    const [statement] = await statementsOf(house, locker)
    expect(canonicalBytes(JSON.parse(statement!.record).envelope.body)).toEqual(
      canonicalBytes(envelope.body as unknown as Json),
    )
    expect(statement!.statement_digest).toBe(envelope.statement_digest)
  })

  it('ATT-21 AMB-56 MERK-08 refuses an empty file list and writes no record', async () => {
    expectRefusal(await askToAttest(house, locker), 409, 'EMPTY_FILE_LIST')
    await locker.put('never confirmed', 'x', { confirm: false })
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'never uploaded' })
    const { status, body } = await askToAttest<{ message: string }>(house, locker)
    expect([status, body.message]).toEqual([409, 'cannot attest an empty file list'])
    expect(await statusOf(house, locker)).toBeNull()
  })

  it('MERK-21 AMB-32 makes leaves of confirmed files only, and counts all entries of the manifest', async () => {
    await locker.put('confirmed', 'yes')
    await locker.put('uploaded', 'no', { confirm: false })
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'named' })
    const { attestation } = await attest(house, locker)
    expect(attestation.files.map(({ filename }) => filename)).toEqual(['confirmed'])
    expect(attestation).toMatchObject({ file_count: 1, total_bytes: 3, manifest_file_count: 3, files_skipped: 2 })
    expect(attestation.envelope!.body).toMatchObject({ file_count: 1, manifest_file_count: 3, total_bytes: '3' })
  })

  it('ATT-20 leaves out files whose bytes are gone, and refuses a locker where all are gone', async () => {
    for (const name of ['a', 'b', 'c']) await locker.put(name, name)
    await rm(await objectPath(house, locker, 'b'))
    const { attestation } = await attest(house, locker)
    expect(attestation.files.map(({ filename }) => filename)).toEqual(['a', 'c'])
    expect(attestation).toMatchObject({ manifest_file_count: 3, file_count: 2, files_skipped: 1 })
    await locker.put('d', 'd')
    for (const name of ['a', 'c', 'd']) await rm(await objectPath(house, locker, name))
    expectRefusal(await askToAttest(house, locker), 409, 'EMPTY_FILE_LIST')
    expect(await statusOf(house, locker)).toMatchObject({ sequence: 1, status: 'computed' })
  })

  it('AMB-33 STATE-10 answers with the same record if nothing changed, else with the next one', async () => {
    await locker.put('a', 'a')
    const first = await attest(house, locker)
    house.clock.advance(100)
    const again = await attest(house, locker)
    expect(again).toEqual({ ...first, unchanged: true })
    await locker.put('b', 'b')
    const second = await attest(house, locker)
    expect(second).toMatchObject({
      unchanged: false,
      attestation: {
        evidence_seq: 2,
        attested_at: '2026-09-01T12:01:40Z',
        proof_id: first.attestation.proof_id,
        envelope: { body: { sequence: 2, prev_statement_digest: first.attestation.envelope!.statement_digest } },
      },
    })
    expect(second.attestation.envelope!.body.nonce).not.toBe(first.attestation.envelope!.body.nonce)
    await locker.call(['locker:write'], 'DELETE', '/files/a')
    expect((await attest(house, locker)).attestation.files.map(({ filename }) => filename)).toEqual(['b'])
    await expectChain(house, locker)
  })

  it('T-38 T-51 EVID-01 names the proof that the receipt has signed, or a new one for a receipt from before', async () => {
    const { db } = house.gateway.context.database
    const older = await house.locker(ed25519Identity())
    const receipts = db.selectFrom('receipts').select('receipt')
    const receiptOf = async ({ receiptId }: TestLocker): Promise<SignedReceipt> =>
      JSON.parse((await receipts.where('receipt_id', '=', receiptId).executeTakeFirstOrThrow()).receipt)
    const { proof_id, ...withoutProof } = await receiptOf(older)
    const stored = { receipt: JSON.stringify(withoutProof) }
    await db.updateTable('receipts').set(stored).where('receipt_id', '=', older.receiptId).execute()
    for (const one of [locker, older]) await one.put('a', 'a')
    expect((await attest(house, locker)).attestation.proof_id).toBe((await receiptOf(locker)).proof_id)
    const first = (await attest(house, older)).attestation.proof_id
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect(first).not.toBe(proof_id)
    await older.put('b', 'b')
    expect((await attest(house, older)).attestation.proof_id).toBe(first)
  })

  it('EVID-03 AMB-36 gives the same files the same snapshot id in different statements', async () => {
    await locker.put('a', 'a')
    const { attestation: first } = await attest(house, locker)
    await locker.put('b', 'b')
    await attest(house, locker)
    await locker.call(['locker:write'], 'DELETE', '/files/b')
    const { attestation: third } = await attest(house, locker)
    expect(third.snapshot_id).toBe(first.snapshot_id)
    expect(third.evidence_seq).toBe(3)
    expect((await statementsOf(house, locker)).map(({ snapshot_key }) => snapshot_key)).toEqual([
      expect.any(String),
      expect.any(String),
      (await statementsOf(house, locker))[0]!.snapshot_key,
    ])
    await expectChain(house, locker)
  })

  it('MERK-04 EVID-02 sorts files by code point, whatever the collation of the database', async () => {
    const names = ['z', 'Z', 'é', 'e\u0301', '～', '😀', 'ä', '_', '10', '9', 'a b', 'a/b', 'a-b']
    for (const [i, name] of names.entries()) await locker.put(name, 'x'.repeat(i))
    const { files, merkle_root } = (await attest(house, locker)).attestation
    expect(files).toEqual(sortedByFilename(files))
    expect(files).toHaveLength(names.length)
    expect(merkle_root).toBe(`sha256:${merkleRoot(files.map(leafHash))}`)
  })
})
