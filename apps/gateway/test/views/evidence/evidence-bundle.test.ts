import type { EvidenceBundle, VerificationBundle } from '@svc/api/proofs'
import { forEachDatabase } from '@svc/devnet/databases'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { toHex, utf8 } from '@svc/protocol/bytes'
import { BUNDLE_VERSIONS } from '@svc/protocol/names'
import { tilePath } from '@svc/protocol/transparency/tiles'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { type Given, verifyBundle } from '@svc/verifier/verify-bundle'
import { afterAll, beforeAll, expect, it } from 'vitest'
import vectors from '../../../../../vectors/protocol.json' with { type: 'json' }
import { insertPending } from '../../../src/evidence/store.ts'
import {
  chainOfThree,
  type EvidenceGateway,
  type FilledLocker,
  memoAnchor,
  ORACLE_ANCHOR,
  openEvidenceGateway,
} from './evidence-gateway.ts'

const BUNDLE = '/v1/storage/evidence-bundle'
const TAG = 'ANOTHER_TAG_OF_25_LETTERS'
const ALL_PASSED = {
  merkle_root_matches: 'passed',
  statement_digest_matches: 'passed',
  envelope_binds_commitment: 'passed',
  signature_valid: 'passed',
  key_pinned: 'passed',
}

let instance: EvidenceGateway
const pinned = () => toHex(instance.gateway.context.signers.statement.publicKey)
const bundleOf = (receipt_id: string, query = {}) => instance.get<EvidenceBundle>(BUNDLE, { receipt_id, ...query })

/** The facts of an offline verifier that trusts only the pinned key. */
async function factsOf(bundle: unknown, given: Given = {}): Promise<Record<string, string>> {
  const read = readPinnedKeys(pinned())
  if (!read.ok) throw new Error(read.problem)
  const verification = await verifyBundle([utf8(JSON.stringify(bundle))], {
    pinnedKeys: read.keys,
    domainTag: TAG,
    ...given,
  })
  if (verification.refused) throw new Error(verification.refused.why)
  return Object.fromEntries(Object.entries(verification.facts).map(([name, { value }]) => [name, value]))
}

forEachDatabase('the evidence bundle', (database) => {
  let locker: FilledLocker
  beforeAll(async () => {
    instance = await openEvidenceGateway({ DATABASE_URL: database.url, ENVELOPE_DOMAIN_TAG: TAG })
    locker = await chainOfThree(instance)
  })
  afterAll(() => instance.close())

  it('VER-14 EVID-21 contains everything that an offline verifier needs', async () => {
    const { record, anchor } = await instance.state(locker, { anchor: (envelope) => memoAnchor(envelope) })
    const { status, headers, body } = await instance.read<EvidenceBundle>(BUNDLE, { receipt_id: locker.receipt_id })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(Object.keys(body).sort()).toEqual(Object.keys(vectors.evidence_bundle_v2_example).sort())
    const { files, signing_keys, how_to_verify, verification, ...rest } = body
    const example = vectors.evidence_bundle_v2_example.envelope.body
    expect(Object.keys(body.envelope!.body).sort()).toEqual(Object.keys(example).sort())
    const { merkle_root, attested_at, proof_id, envelope } = record
    const counts = { file_count: 3, manifest_file_count: 3, total_bytes: '11', check_mode: 'recorded_hashes' }
    expect(rest).toEqual({
      schema: 'svc/evidence-bundle/v2',
      bundle_version: BUNDLE_VERSIONS[1],
      receipt_id: locker.receipt_id,
      proof_id,
      network: 'primary-mainnet',
      algorithms: { merkle: 'svc-merkle-v1', envelope: 'svc/evidence/v2' },
      commitment: { merkle_root, attested_at, ...counts },
      envelope,
      v1_signature: null,
      anchor,
    })
    expect(files.map(({ filename, size_bytes }) => [filename, size_bytes])).toEqual([
      ['a.txt', 3],
      ['b.txt', 3],
      ['c.txt', 5],
    ])
    expect(files.every(({ content_hash }) => /^[0-9a-f]{64}$/.test(content_hash))).toBe(true)
    expect(verification).toMatchObject({
      signature_valid: 'passed',
      anchor_confirmed: 'passed',
      witness: 'not_checked',
    })
    expect(signing_keys).toEqual(await instance.get('/v1/keys'))
    expect(how_to_verify).toHaveLength(5)
    expect(how_to_verify[2]).toContain(TAG)
    for (const step of how_to_verify) expect(step).toMatch(/^[A-Z].*[^.]\.$/)
  })

  it('EVID-19 EVID-20 each statement of a chain verifies offline with a pinned key', async () => {
    for (const query of [{ sequence: 1 }, { sequence: 2 }, {}])
      expect(await factsOf(await bundleOf(locker.receipt_id, query))).toMatchObject(ALL_PASSED)
  })

  it('LOG-33 includes the log proof once a checkpoint covers the statement, and omits it when the log cannot be read', async () => {
    const { logIdentity: identity, publishLog: publish, logFiles: files } = instance.gateway.context
    const { receipt_id } = locker
    await publish()
    const bundle = await bundleOf(locker.receipt_id)
    const redacted = await instance.get('/v1/storage/redacted-bundle', { receipt_id: locker.receipt_id })
    for (const document of [bundle, redacted, await bundleOf(locker.receipt_id, { sequence: 1 })])
      expect(await factsOf(document, { pinnedLogs: [identity.key] })).toMatchObject({
        signature_valid: 'passed',
        log_included: 'passed',
        log_cosigned: 'not_checked',
        log_anchored: 'not_checked',
      })
    const { log } = await instance.get<VerificationBundle>('/v1/storage/verification-bundle', { receipt_id })
    expect(log).toEqual({ statement_digest: bundle.envelope!.statement_digest, ...bundle.log })
    expect(bundle.log).toEqual({ proof: expect.stringMatching(/^c2sp\.org\/tlog-proof@v1\nindex \d+\n/), anchor: null })
    expect(JSON.stringify(redacted)).toContain(JSON.stringify(bundle.log!.proof))
    expect(JSON.stringify(bundle.log)).not.toContain(locker.receipt_id)

    await instance.state(locker)
    expect(await bundleOf(locker.receipt_id)).not.toHaveProperty('log')
    expect(await instance.get('/v1/storage/verification-bundle', { receipt_id })).not.toHaveProperty('log')
    const size = Number(/\n(\d+)\n/.exec(bundle.log!.proof.slice(bundle.log!.proof.indexOf('\n\n')))![1])
    await publish()
    await files.remove(tilePath({ level: 0, index: 0, width: size + 1 }))
    expect(await bundleOf(locker.receipt_id)).not.toHaveProperty('log')
  })

  it('VER-13 VER-15 a bundle of the oracle era has version 1 and is verified by the signature on the Merkle root', async () => {
    const locker = await instance.listed(3)
    const { record } = await instance.stateAsOracle(locker, { anchor: ORACLE_ANCHOR, oracleTx: ORACLE_ANCHOR.tx })
    const bundle = await bundleOf(locker.receipt_id)
    expect(Object.keys(bundle).sort()).toEqual(Object.keys(vectors.evidence_bundle_v1_example).sort())
    expect(bundle).toMatchObject({
      bundle_version: BUNDLE_VERSIONS[0],
      proof_id: null,
      algorithms: { merkle: 'svc-merkle-v1', envelope: null },
      commitment: { file_count: 3, manifest_file_count: 3, total_bytes: '300', check_mode: null },
      envelope: null,
      v1_signature: {
        manifest_signature: record.manifest_signature,
        signed_message: record.merkle_root.slice('sha256:'.length),
        result_hash: record.result_hash,
      },
      anchor: ORACLE_ANCHOR,
      verification: vectors.evidence_bundle_v1_example.verification,
    })
    expect(bundle.how_to_verify).toHaveLength(5)
    expect(bundle.how_to_verify[2]).toContain(TAG)
    const missing = { statement_digest_matches: 'not_checked', envelope_binds_commitment: 'not_checked' }
    expect(await factsOf(bundle)).toMatchObject({ ...ALL_PASSED, ...missing })
  })

  it('VER-12 ERR-22 answers 409 with a hint while a receipt has no attestation or a pending one', async () => {
    const { receipt_id, locker_id } = await instance.listed(1)
    const none = await instance.read<{ hint: string }>(BUNDLE, { receipt_id })
    expectRefusal(none, 409, 'attestation_not_available')
    expect(none.body.hint).toContain('POST /v1/storage/attest')
    const { db } = instance.gateway.context.database
    await writable(db)
      .transaction()
      .execute((tx) => insertPending(tx, { receipt_id, locker_id }, 1))
    const pending = await instance.read<{ hint: string }>(BUNDLE, { receipt_id })
    expectRefusal(pending, 409, 'attestation_not_available')
    expect(pending.body.hint).toContain('try again')
  })
})
