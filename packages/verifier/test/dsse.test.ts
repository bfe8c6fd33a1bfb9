import { concat, toHex, utf8 } from '@svc/protocol/bytes'
import {
  type DsseEnvelope,
  dsseEnvelope,
  IN_TOTO_PAYLOAD_TYPE,
  inTotoPayload,
  preAuthEncoding,
  sigstoreBundle,
} from '@svc/protocol/dsse'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519Signer } from '@svc/protocol/keys'
import { leafHash, merkleLevels, merkleProof } from '@svc/protocol/merkle'
import { describe, expect, it } from 'vitest'
import { openDsse } from '../src/dsse.ts'
import { verifyBundle } from '../src/verify-bundle.ts'
import { bundleOf, SIGNER } from './bundles.ts'
import { pinnedKeys } from './pack.ts'

const otherSigner = ed25519Signer(new Uint8Array(32).fill(8))
const files = ['a', 'b', 'c'].map((filename, i) => ({ filename, size_bytes: i, content_hash: `${i}`.repeat(64) }))
const { envelope } = bundleOf(files)
const proof = merkleProof(merkleLevels(files.map(leafHash)), 1)
const whole = { envelope, anchor: null, files }
const ofOne = { envelope, anchor: null, files: [{ ...files[1]!, leaf_index: 1, proof }] as const }

function signed(payload: Uint8Array, by = SIGNER): DsseEnvelope {
  const sig = by.sign(preAuthEncoding(IN_TOTO_PAYLOAD_TYPE, payload))
  return dsseEnvelope(payload, { keyid: issuerKeyId(toHex(by.publicKey)), sig })
}

/** The payload with a changed text, signed again. */
function altered(from: string, to: string): DsseEnvelope {
  const text = new TextDecoder().decode(inTotoPayload(whole))
  expect(text).toContain(from)
  return signed(new TextEncoder().encode(text.replace(from, to)))
}

async function verify(document: unknown, pinned: readonly (typeof SIGNER)[] = [SIGNER]) {
  const opened = openDsse(utf8(JSON.stringify(document)))
  if (!opened || 'refused' in opened) return opened?.refused.code ?? null
  const keys = pinned.length > 0 ? pinnedKeys(pinned.map(({ publicKey }) => toHex(publicKey))) : []
  const verification = await verifyBundle([opened.bundle], { pinnedKeys: keys })
  if (verification.refused) return verification.refused.code
  const facts = Object.entries({ ...verification.facts, ...opened.facts(verification.followed) })
  return Object.fromEntries(facts.map(([name, { value }]) => [name, value]))
}

describe('a statement in DSSE', () => {
  it('DSSE-09 T-38 is refused with other fields next to it, which are not signed', async () => {
    const made = signed(inTotoPayload(whole))
    for (const around of [
      { ...made, files },
      { dsseEnvelope: made, schema: 'other' },
      { ...sigstoreBundle(made), ...made },
    ])
      expect(await verify(around)).toBe('not_a_bundle')
  })

  it('DSSE-09 contains a bundle that verifies, with all files or one, with and without Sigstore', async () => {
    const good = {
      dsse_signed: 'passed',
      dsse_subjects_match: 'passed',
      inclusion_proven: 'passed',
      key_pinned: 'passed',
    }
    for (const wrap of [(made: DsseEnvelope) => made, sigstoreBundle]) {
      expect(await verify(wrap(signed(inTotoPayload(whole))))).toMatchObject({ ...good, merkle_root_matches: 'passed' })
      expect(await verify(wrap(signed(inTotoPayload(ofOne))))).toMatchObject({
        ...good,
        merkle_root_matches: 'not_checked',
      })
    }
  })

  it('DSSE-09 T-14 fails with another key, subject or file', async () => {
    expect(await verify(signed(inTotoPayload(whole), otherSigner))).toMatchObject({ dsse_signed: 'failed' })
    expect(await verify(signed(inTotoPayload(whole)), [])).toMatchObject({ dsse_signed: 'not_checked' })
    expect(await verify(altered('"name":"b"', '"name":"x"'))).toMatchObject({
      dsse_signed: 'passed',
      dsse_subjects_match: 'failed',
    })
    expect(await verify(altered('"size_bytes":2', '"size_bytes":5'))).toMatchObject({ merkle_root_matches: 'failed' })
    const { payload, ...rest } = signed(inTotoPayload(whole))
    const other = dsseEnvelope(inTotoPayload(ofOne), { keyid: '', sig: new Uint8Array(64) })
    expect(await verify({ ...rest, payload: other.payload })).toMatchObject({ dsse_signed: 'failed' })
  })

  it('DSSE-09 T-129 is refused if it is of another kind, and ignored if it is not an envelope', async () => {
    expect(await verify({ ...signed(inTotoPayload(whole)), payloadType: 'text/plain' })).toBe('not_a_bundle')
    expect(await verify(altered('evidence-predicate:v1', 'evidence-predicate:v2'))).toBe('not_a_bundle')
    expect(await verify(altered('"size_bytes":2', '"size_bytes":-2'))).toBe('bad_file_entry')
    expect(await verify(altered('"files":[', '"files":[1,'))).toBe('bad_file_entry')
    for (const size of ['"2"', '2.5', '{"toString":1}', 'null'])
      expect(await verify(altered('"size_bytes":2', `"size_bytes":${size}`))).toBe('bad_file_entry')
    expect(await verify(altered('"filename":"b"', '"filename":"\\ud800"'))).toBe('bad_file_entry')
    for (const document of [{}, [], 'text', { payload: 1 }, { dsseEnvelope: null }, { payload: '', payloadType: '' }])
      expect(await verify(document)).toBeNull()
    expect(openDsse(utf8('{'))).toBeNull()
  })

  it('T-129 DSSE-09 is ignored if it is not UTF-8 or begins with a byte order mark', () => {
    const text = JSON.stringify({ x: '', ...signed(inTotoPayload(whole)) })
    const at = text.indexOf('""') + 1
    const inText = (...bytes: number[]) => concat(utf8(text.slice(0, at)), Uint8Array.from(bytes), utf8(text.slice(at)))
    expect(openDsse(inText(0xc3, 0xa9))).not.toBeNull()
    for (const bytes of [inText(0xff), inText(0xc0, 0x80), inText(0xed, 0xa0, 0x80), utf8(`\ufeff${text}`)])
      expect(openDsse(bytes)).toBeNull()
  })
})
