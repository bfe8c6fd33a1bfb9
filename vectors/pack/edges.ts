// Values at the edge of what a bundle may contain: limits, forms of numbers and digits, absent and unknown fields.

import { ANCHORED, anchored, GIVEN, plain } from './anchor-parts.ts'
import { at, bundleOf, bundleV1, changed, envelopeOf, FILES, filesOf, type Order, redactedOf } from './bundles.ts'
import { type Case, type Facts, OF_V1, PINNED, UNSIGNED } from './case.ts'
import { type Json, type JsonObject, sha256 } from './formats.ts'
import { known } from './transactions.ts'

const base = bundleOf()
const text = JSON.stringify(base)
const v1 = bundleV1()
const MOST = 2 ** 32 - 1
const NOT_BOUND: Facts = { envelope_binds_commitment: 'failed' }

function edge(name: string, what: string, document: Case['document'], expect: Case['expect'] = {}): Case {
  return { name: `edge-${name}`, what, document: document as JsonObject, given: PINNED, expect }
}

const refused = (code: string) => ({ refused: code })

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const inBundle = (levels: number) => `{"x":${nested(levels)},${text.slice(1)}`
const inEntry = (levels: number) => text.replace('"size_bytes":6', `"x":${nested(levels)},"size_bytes":6`)

/** A bundle with this many characters besides the entries of its list. */
function ofLength(length: number): string {
  const entries = JSON.stringify(base.files).length - 2
  const padded = (padding: string) => `{"x":"${padding}",${text.slice(1)}`
  return padded('a'.repeat(length - (padded('').length - entries)))
}

function withEntryOf(length: number): string {
  const entry = JSON.stringify((base.files as Json[])[0])
  const padded = (padding: string) => `${entry.slice(0, -1)},"x":"${padding}"}`
  return text.replace(entry, padded('a'.repeat(length - padded('').length)))
}

const gap = ' '.repeat(64 * 1024 + 1)
/** Long white space around the entries of a list, which does not count. */
const spaced = (document: JsonObject, list: string) => {
  const entries = (document[list] as Json[]).map((entry) => JSON.stringify(entry))
  return JSON.stringify(document).replace(`[${entries.join()}]`, `[${gap}${entries.join(`${gap},${gap}`)}${gap}]`)
}

const LIMITS: Case[] = [
  edge('depth-32', '32 levels', inBundle(31)),
  edge('depth-33', '33 levels', inBundle(32), refused('not_strict_json')),
  edge('depth-32-in-entry', '32 levels, the innermost within a file', inEntry(29)),
  edge('depth-33-in-entry', '33 levels, the innermost within a file', inEntry(30), refused('not_strict_json')),
  edge('length', 'as many characters as there may be besides the files', ofLength(1024 * 1024)),
  edge('length-more', 'one character more', ofLength(1024 * 1024 + 1), refused('too_large')),
  edge('entry-length', 'as many characters as a file may take', withEntryOf(64 * 1024)),
  edge('entry-length-more', 'one character more', withEntryOf(64 * 1024 + 1), refused('too_large')),
  edge('spaces', 'long white space around files', spaced(base, 'files')),
  edge('spaces-leaves', 'long white space around leaves', spaced(redactedOf(null), 'leaf_hashes'), {
    inclusion_proven: 'not_checked',
    envelope_binds_commitment: 'not_checked',
  }),
]

const empty = JSON.stringify(bundleOf({ files: filesOf({ a: '' }) }))
const largest = (size: string) =>
  JSON.stringify(bundleOf({ files: [{ filename: 'a', size_bytes: 2 ** 53 - 1, content_hash: sha256('a') }] })).replace(
    `"size_bytes":${2 ** 53 - 1}`,
    `"size_bytes":${size}`,
  )

const NUMBERS: Case[] = [
  edge('minus-zero', 'a size of minus zero', empty.replace('"size_bytes":0', '"size_bytes":-0')),
  edge('tiny', 'a size that a double cannot tell from zero', empty.replace('"size_bytes":0', '"size_bytes":1e-400')),
  edge(
    'rounded',
    'a number that a double cannot tell from one',
    text.replace('"sequence":1', `"sequence":1.${'0'.repeat(20)}1`),
  ),
  edge('largest', 'the largest size', largest('9007199254740991')),
  edge('largest-rounded', 'a size that rounds to the largest', largest('9007199254740991.4')),
  edge('larger', 'a size that rounds to a larger one', largest('9007199254740991.5'), refused('bad_file_entry')),
  edge('version-true', 'true as version 1', changed(v1, 'bundle_version', true), refused('unsupported_version')),
  edge(
    'size-true',
    'true as a size of one byte',
    changed(bundleOf({ files: filesOf({ a: 'a' }) }), 'files.0.size_bytes', true),
    refused('bad_file_entry'),
  ),
  edge(
    'count-true',
    'true as a count of one file',
    changed(bundleOf({ files: filesOf({ a: 'a' }) }), 'commitment.file_count', true),
    { merkle_root_matches: 'failed', ...NOT_BOUND },
  ),
]

/** Correctly signed, and the commitment says the same. */
function stated(name: string, what: string, change: JsonObject, expect: Facts = NOT_BOUND): Case {
  const bundle = bundleOf({ alter: (body) => Object.assign(body, change) })
  const { issued_at, ...repeated } = change
  const fields = Object.keys(repeated).filter((field) => field in (bundle.commitment as JsonObject))
  const commitment = {
    ...(bundle.commitment as JsonObject),
    ...Object.fromEntries(fields.map((field) => [field, repeated[field] as Json])),
    ...(issued_at !== undefined && { attested_at: issued_at }),
  }
  return edge(`statement-${name}`, what, { ...bundle, commitment }, expect)
}

function ordered(name: string, what: string, order: Order, expect: Facts = NOT_BOUND): Case {
  return edge(`statement-${name}`, what, bundleOf(order), expect)
}

const DIGEST = '0f'.repeat(32)
const total = at(base, 'commitment.total_bytes') as string

const STATEMENTS: Case[] = [
  ordered('sequence-32-bits', 'the largest number of a statement', { sequence: MOST, previous: DIGEST }, {}),
  ordered('sequence-33-bits', 'a number of 33 bits', { sequence: MOST + 1, previous: DIGEST }),
  stated('listed-32-bits', 'the largest count of listed files', { manifest_file_count: MOST }, {}),
  stated('listed-33-bits', 'a count of 33 bits', { manifest_file_count: MOST + 1 }),
  stated('policy-true', 'true as policy 1', { policy_version: true }),
  stated('sequence-true', 'true as number 1', { sequence: true }),
  stated('nonce-short', 'a nonce of 31 digits', { nonce: '1'.repeat(31) }),
  stated('nonce-long', 'a nonce of 32 bytes', { nonce: '10'.repeat(32) }),
  stated('nonce-upper-case', 'a nonce in upper case', { nonce: 'AB'.repeat(16) }),
  stated('nonce-null', 'no nonce', { nonce: null }),
  ordered('proof-id-short', 'a proof id of 31 digits', { proofId: '0'.repeat(31) }),
  ordered('proof-id-upper-case', 'a proof id in upper case', { proofId: 'AB'.repeat(16) }),
  ordered('proof-id-other', 'a proof id that is no hex', { proofId: 'g'.repeat(32) }),
  ordered('previous-prefixed', 'the previous digest with a prefix', { sequence: 2, previous: `sha256:${DIGEST}` }),
  ordered('previous-short', 'a previous digest of 63 digits', { sequence: 2, previous: DIGEST.slice(1) }),
  ordered('previous-upper-case', 'the previous digest in upper case', { sequence: 2, previous: DIGEST.toUpperCase() }),
  stated('total-zeros', 'a total with a leading zero', { total_bytes: `0${total}` }),
  stated('total-number', 'a total that is no text', { total_bytes: Number(total) }),
  stated('root-bare', 'a root without its prefix', {
    merkle_root: String(at(base, 'commitment.merkle_root')).slice(7),
  }),
  stated('time-fraction', 'a time with decimals', { issued_at: '2026-06-12T00:00:00.0Z' }),
  stated(
    'key-id-upper-case',
    'a key id in upper case',
    { issuer_key_id: String(at(base, 'envelope.body.issuer_key_id')).replace('3b96e8a1', '3B96E8A1') },
    {
      ...NOT_BOUND,
      signature_valid: 'failed',
    },
  ),
]

const envelope = (change: JsonObject) => changed(base, 'envelope', { ...envelopeOf(), ...change })
const upper = (path: string) => String(at(base, path)).toUpperCase()
const without = (document: JsonObject, ...fields: string[]) =>
  Object.fromEntries(Object.entries(document).filter(([field]) => !fields.includes(field)))

const FIELDS: Case[] = [
  edge(
    'root-upper-case',
    'the root of the commitment in upper case',
    changed(base, 'commitment.merkle_root', upper('commitment.merkle_root').replace('SHA256', 'sha256')),
    {
      merkle_root_matches: 'failed',
      ...NOT_BOUND,
    },
  ),
  edge(
    'digest-upper-case',
    'the digest in upper case',
    envelope({ statement_digest: upper('envelope.statement_digest') }),
    {
      statement_digest_matches: 'failed',
      ...UNSIGNED,
    },
  ),
  edge('pubkey-upper-case', 'the key in upper case', envelope({ issuer_pubkey: upper('envelope.issuer_pubkey') }), {
    signature_valid: 'failed',
  }),
  edge('envelope-more', 'an unknown field beside the statement', envelope({ note: 'x' })),
  edge('entry-more', 'an unknown field of a file', changed(base, 'files.0.uploaded_at', '2026-06-12T00:00:00Z')),
  edge('algorithms-more', 'an unknown algorithm', changed(base, 'algorithms.anchor', 'svc/anchor/v2')),
  edge('commitment-more', 'an unknown field of the commitment', changed(base, 'commitment.note', 'x')),
  edge(
    'optional-absent',
    'no field for what there is not',
    without(base, 'v1_signature', 'anchor', 'signing_keys', 'receipt_id', 'network', 'how_to_verify'),
  ),
  edge('log-null', 'null as log', { ...base, log: null }),
  edge('leaf-hashes', 'leaves beside the files, in a whole bundle', { ...base, leaf_hashes: [sha256('x')] }),
  edge(
    'v1-absent',
    'version 1 without fields for what there is not',
    without(v1, 'envelope', 'proof_id', 'anchor'),
    OF_V1,
  ),
  edge(
    'v1-algorithm-absent',
    'version 1 that does not say that it has no statement',
    changed(v1, 'algorithms.envelope', undefined),
    refused('unsupported_version'),
  ),
  edge(
    'v1-total',
    'version 1 with another total and result hash, which are not compared',
    changed(changed(v1, 'commitment.total_bytes', '1'), 'v1_signature.result_hash', null),
    OF_V1,
  ),
  edge('v1-proof-id', 'version 1 with a proof id', changed(v1, 'proof_id', 'x'), OF_V1),
  edge(
    'v1-root-bare',
    'version 1 with a root without prefix',
    changed(v1, 'commitment.merkle_root', at(v1, 'v1_signature.signed_message')),
    OF_V1,
  ),
  edge(
    'v1-root-prefixed-twice',
    'version 1 with a root with two prefixes, which nobody signed',
    changed(v1, 'commitment.merkle_root', `sha256:${at(v1, 'commitment.merkle_root')}`),
    { ...OF_V1, merkle_root_matches: 'failed', ...UNSIGNED },
  ),
  edge(
    'v1-count-only',
    'version 1 with nothing but root and count',
    changed(v1, 'commitment', { merkle_root: at(v1, 'commitment.merkle_root'), file_count: FILES.length }),
    OF_V1,
  ),
  {
    name: 'edge-no-key',
    what: 'no issuer_pubkey and nothing pinned: the key list of the bundle is not tried',
    document: envelope({ issuer_pubkey: null }),
    expect: { signature_valid: 'failed', key_pinned: 'not_checked' },
  },
  {
    name: 'edge-key-absent',
    what: 'issuer_pubkey is absent; the pinned key is sufficient',
    document: changed(base, 'envelope', without(envelopeOf(), 'issuer_pubkey')),
    given: PINNED,
    expect: {},
  },
  {
    name: 'edge-anchor-claimed-digest',
    what: 'a statement that was changed under its digest, which the anchor publishes',
    document: changed(anchored(plain), 'envelope.body.nonce', DIGEST.slice(32)),
    given: GIVEN,
    rpc: known(plain),
    expect: { ...ANCHORED, statement_digest_matches: 'failed', ...UNSIGNED },
  },
  {
    name: 'edge-slot-absent',
    what: 'an anchor whose slot is absent, not null',
    document: changed(anchored(plain), 'anchor.slot', undefined),
    given: GIVEN,
    rpc: known(plain),
    expect: { ...ANCHORED, anchor_slot_matches: 'failed' },
  },
]

export const EDGES: Case[] = [...LIMITS, ...NUMBERS, ...STATEMENTS, ...FIELDS]
