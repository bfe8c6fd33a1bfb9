import type { Retrieved, VerifyAnswer } from '@svc/api/evidence'
import type { RecomputeVerify, SelfVerify, VerificationBundle } from '@svc/api/proofs'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectRefusal } from '@svc/devnet/services/test-gateway'
import { ed25519Signer } from '@svc/protocol/keys'
import { describe, expect, it } from 'vitest'
import vectors from '../../../../../vectors/protocol.json' with { type: 'json' }
import { ORACLE_ANCHOR, openEvidenceGateway } from './evidence-gateway.ts'

const { tx } = ORACLE_ANCHOR
const FACTS = vectors.evidence_bundle_v1_example.verification
const NO_ANCHOR = { ...FACTS, anchor_submitted: 'not_checked', anchor_confirmed: 'not_checked' }

describe('records of the oracle era', () => {
  const instance = forAllTests(() => openEvidenceGateway())
  const verify = (receipt_id: string, query = {}) =>
    instance.get<VerifyAnswer>('/v1/storage/verify', { receipt_id, ...query })

  it('ANCH-06 ANCH-10 verify answers a record of the oracle era with its anchor and without envelope or status', async () => {
    const locker = await instance.listed(3)
    const { record } = await instance.stateAsOracle(locker, { anchor: ORACLE_ANCHOR, oracleTx: tx })
    const { attestation, verification, anchor, verified } = await verify(locker.receipt_id)
    expect({ verified, anchor, verification }).toEqual({ verified: true, anchor: ORACLE_ANCHOR, verification: FACTS })
    expect(anchor).toMatchObject({ type: 'oracle_v2', envelope_version: 1 })
    const { files, ...head } = attestation!
    expect(head).toEqual({
      receipt_id: locker.receipt_id,
      locker_id: locker.locker_id,
      ...record,
      anchor: ORACLE_ANCHOR,
    })
    expect(head).toMatchObject({ oracle_tx: tx, oracle_slot: 300_000_000, oracle_feed: 'feed-1' })
    for (const field of ['envelope', 'proof_id', 'attestation_status', 'evidence_seq']) {
      expect(head).not.toHaveProperty(field)
    }
    expect(files).toHaveLength(3)
  })

  it('VER-06 VER-07 counts oracle_tx as an anchor in the facts, and answers a null anchor object', async () => {
    const locker = await instance.listed(1)
    await instance.stateAsOracle(locker, { oracleTx: tx })
    expect(await verify(locker.receipt_id)).toMatchObject({ anchor: null, verification: FACTS })
  })

  it('VER-05 reports the signature of an unknown key as unavailable, and a missing one as not checked', async () => {
    const [foreign, unsigned] = [await instance.listed(1), await instance.listed(2)]
    await instance.stateAsOracle(foreign, { signer: ed25519Signer(new Uint8Array(32).fill(5)) })
    await instance.stateAsOracle(unsigned, { signer: null })
    expect((await verify(foreign.receipt_id)).verification).toEqual({ ...NO_ANCHOR, signature_valid: 'unavailable' })
    expect((await verify(unsigned.receipt_id)).verification).toEqual({ ...NO_ANCHOR, signature_valid: 'not_checked' })
  })

  it('ATT-15 ATT-16 every evidence endpoint answers a record of the oracle era', async () => {
    const locker = await instance.filled({ 'a.txt': 'one', 'b.txt': 'two' })
    const { receipt_id } = locker
    const { record } = await instance.stateAsOracle(locker, { anchor: ORACLE_ANCHOR, oracleTx: tx })
    const { merkle_root, result_hash } = record
    const anchor = ORACLE_ANCHOR
    const retrieved = await instance.get<Retrieved>('/v1/retrieve', { receipt_id })
    expect(retrieved).toMatchObject({ merkle_root, result_hash, anchor, verification: FACTS })
    expect(retrieved).not.toHaveProperty('attestation_status')
    const { content_proof } = await instance.get<VerificationBundle>('/v1/storage/verification-bundle', { receipt_id })
    expect(content_proof).toMatchObject({ merkle_root, anchor, file_count: 2 })
    expect(content_proof).not.toHaveProperty('attestation_status')
    const proof = await instance.get('/v1/storage/merkle-proof', { receipt_id, filename: 'a.txt' })
    expect(proof).toMatchObject({ merkle_root, anchor, leaf_index: 0 })
    expect(await instance.get('/v1/attest-code', { receipt_id })).toMatchObject({ result_hash, source: 'attestation' })
    const recomputed = await instance.get<RecomputeVerify>('/v1/storage/recompute-verify', { receipt_id })
    expect(recomputed).toMatchObject({ match: true, anchor, verification: FACTS })
    const { checks, ...self } = await instance.get<SelfVerify>('/v1/self-verify', { receipt_id })
    expect(self).toMatchObject({ anchor, verification: FACTS })
    expect(checks).toEqual({
      merkle_root_matches: 'passed',
      result_hash_matches: 'passed',
      manifest_digest_matches: 'not_checked',
      snapshot_id_matches: 'not_checked',
      statement_digest_matches: 'not_checked',
      signature_valid: 'passed',
      chain_links: 'not_checked',
    })
    expectRefusal(await instance.send('POST', '/v1/attest/simulate', { receipt_id }), 409, 'attestation_not_available')
    for (const path of ['/v1/storage/redacted-bundle', '/v1/storage/dsse']) {
      const refused = await instance.read<{ hint: string }>(path, { receipt_id })
      expectRefusal(refused, 409, 'attestation_not_available')
      expect(refused.body.hint).toContain('POST /v1/storage/attest')
    }
    const chain = await instance.get('/v1/storage/statements', { receipt_id })
    expect(chain).toEqual({ receipt_id, proof_id: null, statements: [] })
  })

  it('EVID-22 keeps a record of the oracle era readable as statement 0 when statements follow', async () => {
    const locker = await instance.listed(2)
    const { receipt_id } = locker
    await instance.stateAsOracle(locker, { anchor: ORACLE_ANCHOR, oracleTx: tx })
    const before = await verify(receipt_id)
    await instance.state(locker)
    expect((await verify(receipt_id)).attestation).toMatchObject({ evidence_seq: 1, anchor: null })
    const { attestation, verification } = await verify(receipt_id, { sequence: 0 })
    expect({ attestation, verification }).toEqual({
      attestation: before.attestation,
      verification: before.verification,
    })
    const { checks } = await instance.get<SelfVerify>('/v1/self-verify', { receipt_id })
    expect(checks.chain_links).toBe('passed')
  })
})
