// Signatures and keys that must not pass.

import { at, bundleOf, bundleV1, changed, envelopeOf, filesOf, ISSUED_AT } from './bundles.ts'
import { type Case, type Facts, OF_V1, PINNED, UNSIGNED } from './case.ts'
import { isoSeconds, type JsonObject } from './formats.ts'
import { listedKey, RETIRED_KEY, STATEMENT_KEY, STRANGER_KEY, signingKeys } from './keys.ts'

const base = bundleOf()
const v1 = bundleV1()
const DAY = 86_400
const BINDS_NOT: Facts = { envelope_binds_commitment: 'failed' }

function envelope(name: string, what: string, change: JsonObject, expect: Facts = UNSIGNED): Case {
  const document = changed(base, 'envelope', { ...envelopeOf(), ...change })
  return { name: `envelope-${name}`, what, document, given: PINNED, expect }
}

function v1Signature(name: string, what: string, change: JsonObject, expect: Facts = UNSIGNED): Case {
  const signature = { ...(at(v1, 'v1_signature') as JsonObject), ...change }
  const document = changed(v1, 'v1_signature', signature)
  return { name: `v1-${name}`, what, document, given: PINNED, expect: { ...OF_V1, ...expect } }
}

const signature = String(at(base, 'envelope.signature'))
const flipped = (signature.startsWith('0') ? '1' : '0') + signature.slice(1)

/** The same signature with the group order added to its second half, which careless libraries accept. */
function malleable(): string {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  const s = BigInt(`0x${Buffer.from(signature.slice(64), 'hex').reverse().toString('hex')}`)
  const larger = Buffer.from((s + order).toString(16).padStart(64, '0'), 'hex')
    .reverse()
    .toString('hex')
  return signature.slice(0, 64) + larger
}

const keyList = signingKeys(
  listedKey(RETIRED_KEY, 'evidence-envelope', { valid_to: isoSeconds(ISSUED_AT - DAY) }),
  listedKey(STATEMENT_KEY, 'evidence-envelope', { valid_from: isoSeconds(ISSUED_AT - DAY) }),
)

export const BAD_SIGNATURES: Case[] = [
  envelope(
    'digest',
    'another digest',
    { statement_digest: '0f'.repeat(32) },
    { statement_digest_matches: 'failed', ...UNSIGNED },
  ),
  envelope(
    'digest-prefixed',
    'a digest with a prefix',
    { statement_digest: `sha256:${at(base, 'envelope.statement_digest')}` },
    { statement_digest_matches: 'failed', ...UNSIGNED },
  ),
  envelope('digest-null', 'no digest', { statement_digest: null }, { statement_digest_matches: 'failed', ...UNSIGNED }),
  envelope('signature-flipped', 'a digit of the signature changed', { signature: flipped }),
  envelope('signature-null', 'no signature', { signature: null }),
  envelope('signature-empty', 'an empty signature', { signature: '' }),
  envelope('signature-upper-case', 'the signature in upper case', { signature: signature.toUpperCase() }),
  envelope('signature-long', 'two digits too many', { signature: `${signature}00` }),
  envelope('signature-number', 'a number as signature', { signature: 7 }),
  envelope('signature-malleable', 'a second form of the same signature', { signature: malleable() }),
  envelope('signature-of-other', 'the signature of another statement', {
    signature: at(bundleOf({ files: filesOf({ x: 'x' }) }), 'envelope.signature'),
  }),
  envelope('sig-alg-none', 'claims not to be signed', { sig_alg: 'none' }),
  envelope('unsigned', 'as development gateways create them', {
    sig_alg: 'none',
    signature: null,
    issuer_pubkey: null,
  }),
  envelope('sig-alg-other', 'another algorithm', { sig_alg: 'secp256k1' }),
  envelope(
    'pubkey-other',
    'the key of another signer beside a valid signature',
    { issuer_pubkey: STRANGER_KEY.hex },
    { signature_valid: 'failed' },
  ),
  envelope('pubkey-list', 'a list as key', { issuer_pubkey: [STATEMENT_KEY.hex] }),
  envelope(
    'body-list',
    'a list as body',
    { body: [] },
    { statement_digest_matches: 'failed', ...BINDS_NOT, ...UNSIGNED },
  ),
  envelope('body-null', 'no body', { body: null }, { statement_digest_matches: 'failed', ...BINDS_NOT, ...UNSIGNED }),
  {
    name: 'key-retired',
    what: 'signed a day after its key was retired',
    document: bundleOf({ key: RETIRED_KEY }),
    given: { pinned_keys: keyList },
    expect: { key_pinned: 'failed' },
  },
  {
    name: 'key-not-yet',
    what: 'signed two days before its key came into use',
    document: bundleOf({ issuedAt: ISSUED_AT - 3 * DAY }),
    given: { pinned_keys: keyList },
    expect: { key_pinned: 'failed' },
  },
  {
    name: 'key-of-other-use',
    of: 'v2',
    what: 'the key is pinned for receipts alone',
    given: { pinned_keys: signingKeys(listedKey(STATEMENT_KEY, 'receipt')) },
    expect: { key_pinned: 'failed' },
  },
  v1Signature('unsigned', 'version 1 without a key', { manifest_signature: `unsigned:${'0'.repeat(32)}` }),
  v1Signature('signature-flipped', 'version 1 with a digit changed', { manifest_signature: flipped }),
  v1Signature('signature-null', 'version 1 without signature', { manifest_signature: null }),
  v1Signature(
    'message-other',
    'version 1 that names another message',
    { signed_message: '0f'.repeat(32) },
    { signature_valid: 'failed' },
  ),
  {
    name: 'v1-stranger-pinned',
    of: 'v1',
    what: 'version 1 under another pinned key',
    given: { pinned_keys: [STRANGER_KEY.hex] },
    expect: { ...OF_V1, key_pinned: 'failed' },
  },
]
