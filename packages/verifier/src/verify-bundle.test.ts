import { toHex, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { type Bundle, readBundle } from './read-bundle.ts'
import { verifyBundle } from './verify-bundle.ts'

const v2 = vectors.evidence_bundle_v2_example
const v1 = vectors.evidence_bundle_v1_example
const pinnedKeys = [vectors.keys.statement_signing.public_key_hex]
const strangerKey = toHex(ed25519Signer(new Uint8Array(32).fill(8)).publicKey)

const allPassed = {
  merkle_root_matches: 'passed',
  statement_digest_matches: 'passed',
  envelope_binds_commitment: 'passed',
  signature_valid: 'passed',
  key_pinned: 'passed',
}

function read(bundle: unknown): Bundle {
  const result = readBundle(utf8(JSON.stringify(bundle)))
  if (!result.ok) throw new Error(result.problem)
  return result.bundle
}

const verify = (bundle: unknown, keys = pinnedKeys) => verifyBundle(read(bundle), { pinnedKeys: keys })
/** The example with the value at a dotted path replaced. */
function changed(path: string, value: unknown) {
  const copy = structuredClone(v2)
  const keys = path.split('.')
  const last = keys.pop() as string
  const parent = keys.reduce((node, key) => (node as Record<string, unknown>)[key], copy as unknown)
  Object.assign(parent as object, { [last]: value })
  return copy
}

describe('offline verification', () => {
  it('CLI-02, EVID-19, EVID-20 the version-2 example holds under its pinned key', () => {
    expect(verify(v2)).toEqual(allPassed)
  })

  it('CLI-02, VER-15 the version-1 example holds; it has no envelope to check', () => {
    expect(verify(v1)).toEqual({
      ...allPassed,
      statement_digest_matches: 'not_checked',
      envelope_binds_commitment: 'not_checked',
    })
  })

  it('EVID-19 the key in the envelope proves consistency only: nothing is pinned', () => {
    expect(verify(v2, [])).toEqual({ ...allPassed, key_pinned: 'not_checked' })
    expect(verify(v2, [strangerKey])).toEqual({ ...allPassed, key_pinned: 'failed' })
    expect(verify(v1, []).signature_valid).toBe('failed')
  })

  const [first, ...others] = v2.files
  it.each([
    ['a changed size', changed('files.0.size_bytes', 7), ['merkle_root_matches', 'envelope_binds_commitment']],
    ['a changed name', changed('files.0.filename', 'x'), ['merkle_root_matches', 'envelope_binds_commitment']],
    ['MERK-10 a lied file count', changed('commitment.file_count', 4), ['merkle_root_matches']],
    ['a missing file', changed('files', others), ['merkle_root_matches', 'envelope_binds_commitment']],
    [
      'another root',
      changed('commitment.merkle_root', `sha256:${'0'.repeat(64)}`),
      ['merkle_root_matches', 'envelope_binds_commitment'],
    ],
    [
      'another total',
      changed('envelope.body.total_bytes', '31'),
      ['statement_digest_matches', 'signature_valid', 'key_pinned'],
    ],
    [
      'a float in the body',
      changed('envelope.body.sequence', 1.5),
      ['statement_digest_matches', 'signature_valid', 'key_pinned'],
    ],
    ['EVID-18 sig_alg none', changed('envelope.sig_alg', 'none'), ['signature_valid', 'key_pinned']],
    [
      'a flipped signature',
      changed('envelope.signature', vectors.evidence_envelope.negative[0]!.signature),
      ['signature_valid', 'key_pinned'],
    ],
  ])('CLI-05 %s fails what it touches', (_, bundle, failing) => {
    const facts = verify(bundle)
    const failed = Object.entries(facts).flatMap(([name, value]) => (value === 'failed' ? [name] : []))
    expect(failed).toEqual(failing)
  })

  it('MERK-16 an unsigned version-1 record is not signed', () => {
    const copy = structuredClone(v1)
    copy.v1_signature.manifest_signature = vectors.merkle.sets[2]!.manifest_signature.unsigned_form
    expect(verify(copy)).toMatchObject({ signature_valid: 'failed', key_pinned: 'failed' })
  })

  it.each([
    ['MERK-11 a colon in a filename', changed('files.0.filename', 'a:b')],
    ['a filename twice', changed('files', [first, first])],
    ['no files', changed('files', [])],
    ['a negative size', changed('files.0.size_bytes', -1)],
    ['another schema', changed('schema', 'x')],
    ['version 3', changed('bundle_version', 3)],
    ['no envelope', changed('envelope', null)],
    ['null', null],
    ['a list', []],
  ])('CLI-05 refuses %s', (_, bundle) => {
    expect(readBundle(utf8(JSON.stringify(bundle)))).toMatchObject({ ok: false })
  })

  it('hostile bytes never throw', () => {
    const text = JSON.stringify(v2)
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(40), fc.string({ maxLength: 5 }), (at, cut, insert) => {
        const result = readBundle(utf8((text.slice(0, at) + insert + text.slice(at + cut)).toWellFormed()))
        if (result.ok) verifyBundle(result.bundle, { pinnedKeys })
      }),
      { numRuns: 300 },
    )
  })
})
