// Bundles that a verifier must accept, also in forms that our gateway does not write.

import { bundleOf, bundleV1, CONTENTS, changed, envelopeOf, FILES, filesOf, ISSUED_AT } from './bundles.ts'
import { type Case, OF_V1, PINNED } from './case.ts'
import { inOrder, isoSeconds, type JsonObject, type PackFile, sha256 } from './formats.ts'
import { listedKey, RETIRED_KEY, STATEMENT_KEY, signingKeys } from './keys.ts'

const DAY = 86_400

/** Names that are legal and have broken other readers. */
const HOSTILE_NAMES = [
  ...['__proto__', 'constructor', 'toString', 'length', 'files', 'null', '-rf', '$(id)', '%2e%2e%2f', 'a..b.txt'],
  ...['con', 'a b', ' ', 'a"b', "a'b", 'a,b', '{"filename"', '],"envelope"', '<b>', '=1+1', '*', '?', '|', '#'],
  ...[
    'é',
    'e\u0301',
    '\u212b',
    '\u202ecod.exe',
    '\u200b',
    '\u2028',
    '\ufeff',
    '\ue000',
    '\uffff',
    '😀',
    '𠮷/野',
    '\u{10ffff}',
  ],
  ...['a/b/c/d/e/f', '.svc/x', 'A', 'a', 'Z'.repeat(512), '\u007f', 'a\nb', 'a\tb', 'a\u0000b', 'a\\b'],
]

export const hostileFiles = filesOf(Object.fromEntries(HOSTILE_NAMES.map((name, i) => [name, `content ${i}`])))

/** One file more than a power of two, so that a lone leaf pairs with itself on ten levels. */
const manyFiles: PackFile[] = Array.from({ length: 1025 }, (_, i) => {
  return { filename: `f${i}`, size_bytes: i, content_hash: sha256(String(i)) }
})

const base = bundleOf()
const { files, envelope, ...rest } = base
const retired = { valid_from: isoSeconds(ISSUED_AT - 300 * DAY), valid_to: isoSeconds(ISSUED_AT + DAY) }
const keyList = signingKeys(
  listedKey(RETIRED_KEY, 'evidence-envelope', retired),
  listedKey(STATEMENT_KEY, 'evidence-envelope', { valid_from: retired.valid_to }),
)
const v1Keys = (period: JsonObject) => signingKeys(listedKey(STATEMENT_KEY, 'attestation', period))

export const VALID: Case[] = [
  { name: 'v2', what: 'a version-2 bundle of four files', document: base, given: PINNED, expect: {} },
  {
    name: 'v2-one-file',
    what: 'one file, whose leaf is the root',
    document: bundleOf({ files: FILES.slice(0, 1) }),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-many-files',
    what: '1,025 files',
    document: bundleOf({ files: inOrder(manyFiles) }),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-hostile-names',
    what: 'names that are legal and have broken other readers',
    document: bundleOf({ files: hostileFiles }),
    given: PINNED,
    expect: {},
  },
  { name: 'v1', what: 'a bundle of the oracle era', document: bundleV1(), given: PINNED, expect: OF_V1 },
  {
    name: 'v2-not-pinned',
    of: 'v2',
    what: 'no key is pinned: the bundle agrees with itself',
    expect: { key_pinned: 'not_checked' },
  },
  {
    name: 'v1-not-pinned',
    of: 'v1',
    what: 'no key is pinned: the key list in the bundle holds the key',
    expect: { ...OF_V1, key_pinned: 'not_checked' },
  },
  {
    name: 'v1-retired-key',
    of: 'v1',
    what: 'version 1 does not sign its time, so the key may already have been retired',
    given: { pinned_keys: v1Keys(retired) },
    expect: { ...OF_V1, key_pinned: 'not_checked' },
  },
  {
    name: 'v1-listed-key',
    of: 'v1',
    what: 'the key in a list, still in use',
    given: { pinned_keys: v1Keys({ valid_from: retired.valid_from }) },
    expect: OF_V1,
  },
  {
    name: 'v2-retired-key',
    what: 'a key that was retired later, pinned by a key list',
    document: bundleOf({ key: RETIRED_KEY }),
    given: { pinned_keys: keyList },
    expect: {},
  },
  {
    name: 'v2-retired-key-handover',
    what: 'signed ten minutes after the key was retired, while gateways were being replaced',
    document: bundleOf({ key: RETIRED_KEY, issuedAt: ISSUED_AT + DAY + 600 }),
    given: { pinned_keys: keyList },
    expect: {},
  },
  {
    name: 'v2-older-than-list',
    what: 'older than the first key of the list, and signed by it',
    document: bundleOf({ key: RETIRED_KEY, issuedAt: ISSUED_AT - 400 * DAY }),
    given: { pinned_keys: keyList },
    expect: {},
  },
  {
    name: 'v2-other-tag',
    what: 'signed under the tag of another gateway, which is given',
    document: bundleOf({ domainTag: 'ANOTHER_TAG_OF_25_LETTERS' }),
    given: { ...PINNED, domain_tag: 'ANOTHER_TAG_OF_25_LETTERS' },
    expect: {},
  },
  {
    name: 'v2-files-last',
    what: 'the file list comes after everything else',
    document: { ...rest, envelope, files } as JsonObject,
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-files-first',
    what: 'the file list comes before everything else',
    document: { files, envelope, ...rest } as JsonObject,
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-any-order',
    what: 'files in no order: leaves are sorted, rows need not be',
    document: changed(
      base,
      'files',
      FILES.toReversed().map((file) => ({ ...file })),
    ),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-pretty',
    what: 'with line breaks and spaces between all tokens',
    document: JSON.stringify(base, null, '\t').replaceAll('\n', '\r\n'),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-escapes',
    what: 'keys and names written with escapes',
    document: JSON.stringify(base).replace('"files"', '"\\u0066iles"').replaceAll('readme', '\\u0072ead\\u006de'),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-number-forms',
    what: 'integers written as 1.0 and 6e0, and total_bytes as a number',
    document: JSON.stringify(
      changed(
        base,
        'commitment.total_bytes',
        FILES.reduce((sum, file) => sum + file.size_bytes, 0),
      ),
    )
      .replace('"sequence":1', '"sequence":1.0')
      .replace('"size_bytes":6', '"size_bytes":6e0'),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-prefixed-hashes',
    what: 'content hashes with their prefix, which leaves omit',
    document: changed(
      base,
      'files',
      FILES.map((file) => ({ ...file, content_hash: `sha256:${file.content_hash}` })),
    ),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-more-fields',
    what: 'fields that the verifier does not know, beside the signed ones',
    document: { ...base, x: { files: [1, 2] }, files: FILES.map((file) => ({ ...file, uploaded_at: null })) },
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-no-issuer-pubkey',
    what: 'without issuer_pubkey; the pinned key is sufficient',
    document: changed(base, 'envelope', { ...envelopeOf(), issuer_pubkey: null }),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-skipped-files',
    what: 'the manifest listed more files than existed',
    document: changed(
      bundleOf({ alter: (body) => Object.assign(body, { manifest_file_count: 9 }) }),
      'commitment.manifest_file_count',
      9,
    ),
    given: PINNED,
    expect: {},
  },
  {
    name: 'v2-folder',
    of: 'v2',
    what: 'a folder with all files',
    given: { ...PINNED, files: CONTENTS },
    expect: { files_match: 'passed' },
  },
]
