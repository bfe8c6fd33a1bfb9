// Statements that must not pass, changed after signing or signed with wrong content.

import { at, bundleOf, changed, filesOf, ISSUED_AT, type Order } from './bundles.ts'
import { type Case, type Facts, PINNED, UNSIGNED } from './case.ts'
import { type Json, type JsonObject, sha256 } from './formats.ts'
import { STRANGER_KEY } from './keys.ts'

const base = bundleOf()

/** A value of the same form as the one that was signed. */
const OTHER_VALUES: JsonObject = {
  schema: 'svc/evidence/v3',
  policy_version: 2,
  proof_id: '0f'.repeat(16),
  snapshot_id: '0f'.repeat(32),
  sequence: 2,
  prev_statement_digest: '0f'.repeat(32),
  merkle_algorithm: 'svc-merkle-v2',
  merkle_root: `sha256:${'0f'.repeat(32)}`,
  file_count: 5,
  manifest_file_count: 5,
  total_bytes: '1',
  manifest_digest: `sha256:${'0f'.repeat(32)}`,
  check_mode: 'bytes_hashed',
  issued_at: '2026-06-12T00:00:01Z',
  issued_at_unix: ISSUED_AT + 1,
  issuer_key_id: STRANGER_KEY.id,
  nonce: '0f'.repeat(16),
}
const NOT_BOUND: Facts = { envelope_binds_commitment: 'failed' }
/** The nonce is nowhere else, so only the digest shows the change. */
const STILL_BINDING = ['nonce', 'issuer_key_id']

function tampered(field: string): Case {
  return {
    name: `body-${field}`,
    what: `${field} changed after the statement was signed`,
    document: changed(base, `envelope.body.${field}`, OTHER_VALUES[field]),
    given: PINNED,
    expect: {
      ...(STILL_BINDING.includes(field) ? {} : NOT_BOUND),
      statement_digest_matches: 'failed',
      ...UNSIGNED,
    },
  }
}

function signedWrong(name: string, what: string, order: Order, expect: Facts = NOT_BOUND): Case {
  return { name: `signed-${name}`, what, document: bundleOf(order), given: PINNED, expect }
}

function altered(name: string, what: string, change: { [field: string]: Json }, expect: Facts = NOT_BOUND): Case {
  return signedWrong(name, what, { alter: (body) => Object.assign(body, change) }, expect)
}

/** The neutral element as a key: the neutral element and zero are a valid signature of any message under it. */
const SMALL_ORDER = {
  hex: `01${'00'.repeat(31)}`,
  base58: '',
  id: `ed25519:01${'00'.repeat(7)}`,
  sign: () => `01${'00'.repeat(63)}`,
}

export const BAD_STATEMENTS: Case[] = [
  ...Object.keys(OTHER_VALUES).map(tampered),
  altered('root', 'a statement of another root, correctly signed', { merkle_root: `sha256:${'0f'.repeat(32)}` }),
  altered('count', 'a statement of more files, correctly signed', { file_count: 5, manifest_file_count: 5 }),
  altered('total', 'a statement of another total, correctly signed', { total_bytes: '1' }),
  altered('manifest', 'a statement of another manifest, correctly signed', { manifest_digest: `sha256:${sha256('')}` }),
  altered('snapshot', 'a snapshot id that does not follow, correctly signed', { snapshot_id: '0f'.repeat(32) }),
  altered('proof', 'another proof id in the statement than in the bundle', { proof_id: '0f'.repeat(16) }),
  altered('schema', 'another schema, correctly signed', { schema: 'svc/evidence/v3' }),
  altered('policy', 'another policy, correctly signed', { policy_version: 2 }),
  altered('algorithm', 'another tree, correctly signed', { merkle_algorithm: 'svc-merkle-v2' }),
  altered('times', 'two times that differ, correctly signed', { issued_at_unix: ISSUED_AT + 1 }),
  altered('more', 'an eighteenth field, correctly signed', { extra: 1 }),
  altered('first-with-previous', 'a first statement that follows another', { prev_statement_digest: '0f'.repeat(32) }),
  altered('later-without-previous', 'a second statement that follows none', { sequence: 2 }),
  altered('sequence-zero', 'statement number zero', { sequence: 0 }),
  altered('sequence-text', 'a statement number in quotes', { sequence: '1' }),
  altered('listed-fewer', 'fewer files listed than counted', { manifest_file_count: 1 }),
  altered('mode', 'a check mode that does not exist', { check_mode: 'trusted' }),
  altered(
    'key-id',
    'names another key than the one that signs',
    { issuer_key_id: STRANGER_KEY.id },
    { signature_valid: 'failed' },
  ),
  signedWrong('fewer', 'a field left out, correctly signed', { alter: (body) => delete body.nonce }),
  signedWrong('old-files', 'a right statement about other files', {
    alter: (body) => Object.assign(body, at(bundleOf({ files: filesOf({ x: 'x' }) }), 'envelope.body') as JsonObject),
  }),
  signedWrong('by-stranger', 'a whole bundle signed by somebody else', { key: STRANGER_KEY }, { key_pinned: 'failed' }),
  signedWrong(
    'placeholder-tag',
    'signed under a tag of 23 characters',
    { domainTag: 'SVC_CONTENT_ENVELOPE_V2' },
    UNSIGNED,
  ),
  signedWrong(
    'other-tag',
    'signed under a tag that is not given',
    { domainTag: 'ANOTHER_TAG_OF_25_LETTERS' },
    UNSIGNED,
  ),
  signedWrong('small-order', 'a key of small order, under which anyone can sign', { key: SMALL_ORDER }, UNSIGNED),
  {
    name: 'body-float',
    what: 'a number that has no canonical form',
    document: JSON.stringify(base).replace('"sequence":1', '"sequence":1.5'),
    given: PINNED,
    expect: { statement_digest_matches: 'failed', ...NOT_BOUND, ...UNSIGNED },
  },
  {
    name: 'proof-id-other',
    what: 'another proof id beside the statement',
    document: changed(base, 'proof_id', '0f'.repeat(16)),
    given: PINNED,
    expect: NOT_BOUND,
  },
]
