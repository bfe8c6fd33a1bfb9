import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { EvidenceBundle } from '@svc/api/evidence'
import { forEachDatabase } from '@svc/testbed/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exported, signerHex } from '../attestations/import/test-exports.ts'
import { attest } from '../attestations/test-attest.ts'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/test-lockers.ts'
import { activateSigningKey } from '../info/store.ts'

const command = fileURLToPath(new URL('../import-attestations.ts', import.meta.url))

forEachDatabase('a locker whose record was imported', (database) => {
  let house: LockerHouse
  let locker: TestLocker
  let folder: string
  beforeAll(async () => {
    house = await openLockerHouse({ DATABASE_URL: database.url })
    await activateSigningKey(house.gateway.context.database.db, signerHex, '2024-01-01T00:00:00Z')
    locker = await house.locker(ed25519Identity())
    await locker.put('a.txt', 'new bytes')
    folder = await mkdtemp(join(tmpdir(), 'svc-imported-'))
    await writeFile(join(folder, 'export.json'), JSON.stringify([exported(locker.receiptId)]))
    const env = { SVC_MODE: 'development', DATA_DIR: folder, DATABASE_URL: database.url }
    await promisify(execFile)(process.execPath, [command, join(folder, 'export.json')], { env })
  })
  afterAll(async () => {
    await house.close()
    await rm(folder, { recursive: true })
  })

  const get = async <Body>(path: string, query = '') =>
    (await house.send<Body>('GET', `${path}?receipt_id=${locker.receiptId}${query}`)).body

  it('VER-15 MERK-17 ATT-15 is read as what it is, and followed by signed statements', async () => {
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
