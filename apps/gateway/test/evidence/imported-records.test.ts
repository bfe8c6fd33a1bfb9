import type { EvidenceBundle } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { toHex } from '@svc/protocol/bytes'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { importRecords } from '../../src/attestations/import/import-records.ts'
import { readExport } from '../../src/attestations/import/read-export.ts'
import { createKeysAt } from '../../src/keys/signing-keys.ts'
import { activateSigningKey } from '../../src/keys/store.ts'
import { attest } from '../attestations/attest.ts'
import { chunked, exported, signerHex } from '../attestations/import/export-records.ts'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'

forEachDatabase('a locker whose record was imported', (database) => {
  let house: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    house = await openLockerHouse({ DATABASE_URL: database.url })
    const { database: opened, now, signers } = house.gateway.context
    // The key of the oracle era was replaced by ours.
    await activateSigningKey(opened.db, signerHex, '2024-01-01T00:00:00Z')
    await activateSigningKey(opened.db, toHex(signers.statement.publicKey), new Date(now()).toISOString())
    locker = await house.locker(ed25519Identity())
    await locker.put('a.txt', 'new bytes')
    const context = { db: opened.db, keysAt: createKeysAt({ database: opened }), now }
    const entries = readExport(chunked(JSON.stringify([exported(locker.receiptId)]), 1000))
    expect(await importRecords(context, entries)).toMatchObject({ imported: 1, unverified: [] })
  })
  afterAll(() => house.close())

  const get = async <Body>(path: string, query = '') =>
    (await house.send<Body>('GET', `${path}?receipt_id=${locker.receiptId}${query}`)).body

  it('VER-15 MERK-17 ATT-15 reads an imported record as of the oracle era, and lets signed statements follow it', async () => {
    const bundle = await get<EvidenceBundle>('/v1/storage/evidence-bundle')
    expect(bundle).toMatchObject({ bundle_version: 1, proof_id: null, envelope: null, algorithms: { envelope: null } })
    expect(bundle.verification).toMatchObject({ commitment_computed: 'passed', signature_valid: 'passed' })
    const proof = await get('/v1/storage/merkle-proof', '&filename=b.txt')
    expect(proof).toMatchObject({ merkle_root: bundle.commitment.merkle_root, leaf_index: 1, file_count: 2 })
    expect(await get('/v1/attest-code')).toMatchObject({ result_hash: bundle.v1_signature?.result_hash })

    const { attestation } = await attest(house, locker)
    expect(attestation).toMatchObject({ evidence_seq: 1, file_count: 1 })
    expect(attestation.envelope?.body.prev_statement_digest).toBeNull()
    expect(await get<EvidenceBundle>('/v1/storage/evidence-bundle')).toMatchObject({ bundle_version: 2 })
    expect(await get<EvidenceBundle>('/v1/storage/evidence-bundle', '&sequence=0')).toEqual(bundle)
    await locker.put('b.txt', 'more')
    const { attestation: second } = await attest(house, locker)
    const { sequence, prev_statement_digest } = second.envelope!.body
    expect([sequence, prev_statement_digest]).toEqual([2, attestation.envelope!.statement_digest])
  })
})
