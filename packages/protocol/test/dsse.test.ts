import { expect, it } from 'vitest'
import { fromBase64, fromUtf8, toHex, utf8 } from '../src/bytes.ts'
import { dsseEnvelope, inTotoPayload, preAuthEncoding, sigstoreBundle } from '../src/dsse.ts'
import { issueStatement } from '../src/evidence.ts'
import { ed25519Signer } from '../src/keys.ts'
import { EVIDENCE_PREDICATE_TYPE } from '../src/names.ts'

it('DSSE-01 the signed bytes have the encoding of DSSE', () => {
  // The example of the DSSE specification, and lengths in bytes.
  const hello = preAuthEncoding('http://example.com/HelloWorld', utf8('hello world'))
  expect(fromUtf8(hello)).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world')
  expect(fromUtf8(preAuthEncoding('ü', utf8('€')))).toBe('DSSEv1 2 ü 3 €')
  expect(toHex(preAuthEncoding('', Uint8Array.of(0xff, 0)))).toBe(`${toHex(utf8('DSSEv1 0  2 '))}ff00`)
})

it('DSSE-01 DSSE-04 envelope, statement and bundle have the fields of their formats, and always the same bytes', () => {
  const signer = ed25519Signer(new Uint8Array(32).fill(7))
  const statement = {
    proofId: '0'.repeat(32),
    sequence: 1,
    previousDigest: null,
    merkleRoot: '1'.repeat(64),
    fileCount: 2,
    manifestFileCount: 2,
    totalBytes: 3n,
    manifestDigest: `sha256:${'2'.repeat(64)}`,
    checkMode: 'recorded_hashes' as const,
    issuedAtUnix: 1_800_000_000,
    nonce: '3'.repeat(32),
  }
  const envelope = issueStatement(statement, signer, 'SVCGW_CONTENT_ENVELOPE_V2')
  const files = ['a', 'ü/é.txt'].map((filename, i) => ({
    filename,
    size_bytes: i + 1,
    content_hash: `${i}`.repeat(64),
  }))
  const payload = inTotoPayload({ files, envelope, anchor: null })
  expect(payload).toEqual(inTotoPayload({ envelope, anchor: null, files }))
  expect(JSON.parse(fromUtf8(payload) as string)).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      { name: 'a', digest: { sha256: '0'.repeat(64) } },
      { name: 'ü/é.txt', digest: { sha256: '1'.repeat(64) } },
    ],
    predicateType: EVIDENCE_PREDICATE_TYPE,
    predicate: { envelope, anchor: null, files },
  })

  const made = dsseEnvelope(payload, { keyid: 'ed25519:00', sig: Uint8Array.of(1, 2, 3) })
  expect(fromBase64(made.payload)).toEqual(payload)
  expect(made).toMatchObject({
    payloadType: 'application/vnd.in-toto+json',
    signatures: [{ keyid: 'ed25519:00', sig: 'AQID' }],
  })
  expect(sigstoreBundle(made)).toEqual({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: 'ed25519:00' } },
    dsseEnvelope: made,
  })
})

it('DSSE-02 the predicate type is a URI without a host', () => {
  const { protocol, host, href } = new URL(EVIDENCE_PREDICATE_TYPE)
  expect([protocol, host, href]).toEqual(['urn:', '', EVIDENCE_PREDICATE_TYPE])
})
