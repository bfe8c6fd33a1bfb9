import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import type { EvidenceEnvelope } from '../src/evidence.ts'
import { type AttestationFacts, FACTS, isVerified, verificationFacts } from '../src/facts.ts'
import { ed25519PublicKeyFromHex } from '../src/keys.ts'
import { DEFAULT_DOMAIN_TAG } from '../src/names.ts'

const set = vectors.merkle.sets.find((s) => s.file_count === 3)!
const envelope = vectors.evidence_envelope.statements[0]!.envelope as EvidenceEnvelope
const unsigned = vectors.evidence_envelope.unsigned_variant.envelope as EvidenceEnvelope
const badSignature = vectors.evidence_envelope.negative[0]!.signature!
const tx = vectors.evidence_bundle_v2_example.anchor.tx
const own = {
  key: ed25519PublicKeyFromHex(vectors.keys.statement_signing.public_key_hex),
  domainTag: DEFAULT_DOMAIN_TAG,
}

const v2: AttestationFacts = {
  attestation_status: 'computed',
  merkle_root: set.merkle_root,
  manifest_signature: set.manifest_signature.signature_hex,
  envelope,
  anchor: null,
  check_mode: 'recorded_hashes',
}
const v1: AttestationFacts = { ...v2, envelope: null, check_mode: null }
const { attestation_status: _, ...v1WithoutStatus } = v1

const records: Record<string, AttestationFacts | null> = {
  'no attestation record': null,
  'pending stub': { ...v2, attestation_status: 'pending', merkle_root: null, manifest_signature: null, envelope: null },
  'v2 computed, signed, no anchor, recorded_hashes': v2,
  'v2 computed, signed, no anchor, bytes_hashed': { ...v2, check_mode: 'bytes_hashed' },
  'v2 pushing, no tx recorded yet': { ...v2, attestation_status: 'pushing' },
  'v2 complete, anchor tx, finalized false': {
    ...v2,
    attestation_status: 'complete',
    anchor: { tx, finalized: false },
  },
  'v2 complete, anchor tx, finalized true': { ...v2, attestation_status: 'complete', anchor: { tx, finalized: true } },
  'v2 computed, last_anchor_error present, no anchor': { ...v2, last_anchor_error: { error: 'expired' } },
  'v2 stored envelope with a bad signature': { ...v2, envelope: { ...envelope, signature: badSignature } },
  'v2 unsigned (sig_alg none)': { ...v2, envelope: unsigned },
  'v1 complete, oracle_tx, good manifest_signature': { ...v1, attestation_status: 'complete', oracle_tx: tx },
  'v1 no status, oracle_tx, manifest_signature by an unknown key': {
    ...v1WithoutStatus,
    oracle_tx: tx,
    manifest_signature: badSignature,
  },
  'v1 manifest_signature starts with unsigned:': {
    ...v1,
    manifest_signature: set.manifest_signature.unsigned_form,
  },
}

describe('verification facts', () => {
  it.each(vectors.verification_facts.cases)(
    'VER-04 VER-08 have the expected values for the record "$given"',
    ({ given, facts, verified }) => {
      const record = records[given]
      if (record === undefined) throw new Error(`no record built for "${given}"`)
      expect(verificationFacts(record, own)).toEqual(facts)
      expect(isVerified(record)).toBe(verified)
    },
  )

  it('T-38 VER-10 are always all eight, and each is unchecked for some record', () => {
    const all = Object.values(records).map((record) => verificationFacts(record, own))
    for (const facts of all) expect(Object.keys(facts)).toEqual([...FACTS])
    for (const fact of FACTS) expect(all.map((facts) => facts[fact])).toContain('not_checked')
  })

  it('VER-05 never contain a passed signature without a key', () => {
    const none = { key: null, domainTag: DEFAULT_DOMAIN_TAG }
    expect(verificationFacts(v2, none).signature_valid).toBe('failed')
    expect(verificationFacts(v1, none).signature_valid).toBe('unavailable')
  })
})
