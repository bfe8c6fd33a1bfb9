import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { isManifestSignedBy } from '@svc/protocol/attestation'
import { canonicalBytes, type Json } from '@svc/protocol/canonical'
import { type EvidenceEnvelope, isoSeconds, isStatementSignedBy } from '@svc/protocol/evidence'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import { expect, it } from 'vitest'
import { askToAttest, attest, expectChain, statementsOf, statusOf } from './attest.ts'

forEachDatabase('attesting in the request', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))

  it('EVID-08 EVID-22 signs the record in the form of version 1 and the envelope, both with the receipt key', async () => {
    await locker.put('a', 'a')
    const { attestation } = await attest(instance, locker)
    const { config } = instance.gateway.context
    const envelope = attestation.envelope as EvidenceEnvelope
    const { keys } = (await instance.send<{ keys: { use: string; public_key_hex: string }[] }>('GET', '/v1/keys')).body
    const { public_key_hex } = keys.find(({ use }) => use === 'receipt')!
    const receipt = (await instance.send<SignedReceipt>('GET', `/v1/receipts/${locker.receiptId}`)).body
    expect(receipt.receipt_signer_pubkey).toBe(public_key_hex)
    const key = ed25519PublicKeyFromHex(public_key_hex)!
    expect(isReceiptSignedBy(key, receipt)).toBe(true)
    expect(isStatementSignedBy(key, envelope, config.evidence.domainTag)).toBe(true)
    expect(isManifestSignedBy(key, attestation.merkle_root, attestation.manifest_signature)).toBe(true)
    expect(envelope.sig_alg).toBe('ed25519')
    // The stored statement is the signed one.
    const [statement] = await statementsOf(instance, locker)
    expect(canonicalBytes(JSON.parse(statement!.record).envelope.body)).toEqual(
      canonicalBytes(envelope.body as unknown as Json),
    )
    expect(statement!.statement_digest).toBe(envelope.statement_digest)
  })

  it('ATT-21 MERK-08 refuses an empty file list immediately, in the request or a job, and writes nothing', async () => {
    const refused = async () => {
      for (const sync of [true, false]) {
        const reply = await askToAttest<{ message: string }>(instance, locker, { sync })
        expectRefusal(reply, 409, 'EMPTY_FILE_LIST')
        expect(reply.body.message).toBe('cannot attest an empty file list')
      }
    }
    await refused()
    await locker.put('never confirmed', 'x', { confirm: false })
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'never uploaded' })
    await refused()
    expect(await statusOf(instance, locker)).toBeNull()
    await locker.put('a', 'a')
    await attest(instance, locker)
    await locker.call(['locker:write'], 'DELETE', '/files/a')
    await refused()
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed', sequence: 1 })
  })

  it('AMB-33 STATE-10 answers with the same record when nothing changed, else with the next one', async () => {
    await locker.put('a', 'a')
    const first = await attest(instance, locker)
    instance.clock.advance(100)
    const again = await attest(instance, locker)
    expect(again).toEqual({ ...first, unchanged: true })
    await locker.put('b', 'b')
    const second = await attest(instance, locker)
    expect(second).toMatchObject({
      unchanged: false,
      attestation: {
        evidence_seq: 2,
        attested_at: isoSeconds(instance.clock.now() / 1000),
        proof_id: first.attestation.proof_id,
        envelope: { body: { sequence: 2, prev_statement_digest: first.attestation.envelope!.statement_digest } },
      },
    })
    expect(second.attestation.envelope!.body.nonce).not.toBe(first.attestation.envelope!.body.nonce)
    await locker.call(['locker:write'], 'DELETE', '/files/a')
    expect((await attest(instance, locker)).attestation.files.map(({ filename }) => filename)).toEqual(['b'])
    await expectChain(instance, locker)
  })

  it('T-38 EVID-01 names the proof in the signed receipt, or a new one for an older receipt', async () => {
    const { db } = instance.gateway.context.database
    const older = await instance.locker(ed25519Identity())
    const receipts = db.selectFrom('receipts').select('receipt')
    const receiptOf = async ({ receiptId }: TestLocker): Promise<SignedReceipt> =>
      JSON.parse((await receipts.where('receipt_id', '=', receiptId).executeTakeFirstOrThrow()).receipt)
    const { proof_id, ...withoutProof } = await receiptOf(older)
    const stored = { receipt: JSON.stringify(withoutProof) }
    await writable(db).updateTable('receipts').set(stored).where('receipt_id', '=', older.receiptId).execute()
    for (const one of [locker, older]) await one.put('a', 'a')
    expect((await attest(instance, locker)).attestation.proof_id).toBe((await receiptOf(locker)).proof_id)
    const first = (await attest(instance, older)).attestation.proof_id
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect(first).not.toBe(proof_id)
    await older.put('b', 'b')
    expect((await attest(instance, older)).attestation.proof_id).toBe(first)
  })

  it('EVID-03 ATT-03 gives the same files the same snapshot id in different statements', async () => {
    await locker.put('a', 'a')
    const { attestation: first } = await attest(instance, locker)
    await locker.put('b', 'b')
    await attest(instance, locker)
    await locker.call(['locker:write'], 'DELETE', '/files/b')
    const { attestation: third } = await attest(instance, locker)
    expect(third.snapshot_id).toBe(first.snapshot_id)
    expect(third.evidence_seq).toBe(3)
    const [one, , three] = await statementsOf(instance, locker)
    expect(three!.snapshot_key).toBe(one!.snapshot_key)
  })
})
