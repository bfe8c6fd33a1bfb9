// Redacted bundles: some files with their proofs, or the leaves of all.

import { ANCHORED, anchorOf, GIVEN, plain } from './anchor-parts.ts'
import { bundleOf, CONTENTS, changed, FILES, filesOf, type Order, redactedOf } from './bundles.ts'
import { type Case, type Facts, PINNED, UNSIGNED } from './case.ts'
import { inOrder, type Json, type JsonObject, leavesOf, levelAbove, type PackFile, proofOf, sha256 } from './formats.ts'
import { known } from './transactions.ts'

const NAMES = ['readme.txt', '😀.png']
const chosen = redactedOf(NAMES)
const [first, second] = chosen.files as [JsonObject, JsonObject]
const unnamed = redactedOf(null)
const leaves = leavesOf(FILES)

const SOME_SHOWN: Facts = {
  inclusion_proven: 'passed',
  merkle_root_matches: 'not_checked',
  envelope_binds_commitment: 'not_checked',
}
const ALL_SHOWN: Facts = { inclusion_proven: 'passed' }
const NO_NAMES: Facts = { inclusion_proven: 'not_checked', envelope_binds_commitment: 'not_checked' }
const ALL_KNOWN: Facts = { inclusion_proven: 'not_checked', files_match: 'passed' }
const NOT_INCLUDED: Facts = { ...SOME_SHOWN, inclusion_proven: 'failed' }
const OTHER_LEAVES: Facts = {
  inclusion_proven: 'not_checked',
  merkle_root_matches: 'failed',
  envelope_binds_commitment: 'failed',
}

/** Three files: the last leaf is alone on its level. */
const three = filesOf({ a: 'a', b: 'b', c: 'c' })
const manyFiles: PackFile[] = inOrder(
  Array.from({ length: 1025 }, (_, i) => ({ filename: `f${i}`, size_bytes: i, content_hash: sha256(String(i)) })),
)

function redacted(name: string, what: string, document: Case['document'], expect: Case['expect']): Case {
  return { name: `redacted-${name}`, what, ...(document !== undefined && { document }), given: PINNED, expect }
}

function folder(name: string, of: string, what: string, files: Record<string, string>, expect: Facts): Case {
  return { name: `redacted-${name}`, of, what, given: { ...PINNED, files }, expect }
}

const { 'readme.txt': _, ...withoutReadme } = CONTENTS

export const REDACTED: Case[] = [
  redacted('chosen', 'two of four files, with their proofs', chosen, SOME_SHOWN),
  redacted(
    'last-of-many',
    'the last of 1,025 files, which is alone on ten levels',
    redactedOf([(manyFiles.at(-1) as PackFile).filename], { files: manyFiles }),
    SOME_SHOWN,
  ),
  redacted(
    'all-chosen',
    'all files: nothing is left out but the receipt',
    redactedOf(Object.keys(CONTENTS)),
    ALL_SHOWN,
  ),
  redacted(
    'only-file',
    'the only file, whose leaf is the root',
    redactedOf(['readme.txt'], { files: filesOf({ 'readme.txt': 'hello\n' }) }),
    ALL_SHOWN,
  ),
  redacted('no-names', 'the leaves of all files', unnamed, NO_NAMES),
  redacted('no-names-many', 'the leaves of 1,025 files', redactedOf(null, { files: manyFiles }), NO_NAMES),
  redacted('any-order', 'the files in another order', changed(chosen, 'files', [second, first]), SOME_SHOWN),
  redacted(
    'list-first',
    'the list comes before everything else, with spaces between all tokens',
    JSON.stringify({ leaf_hashes: leaves, ...unnamed }, null, '\t'),
    NO_NAMES,
  ),
  {
    ...redacted('not-pinned', 'no key is pinned: the bundle agrees with itself', undefined, {
      ...SOME_SHOWN,
      key_pinned: 'not_checked',
    }),
    of: 'redacted-chosen',
    given: {},
  },
  {
    name: 'redacted-anchored',
    what: 'two of four files, and the transaction that published the statement',
    document: redactedOf(NAMES, { anchor: anchorOf(plain.id) }),
    given: GIVEN,
    rpc: known(plain),
    expect: { ...SOME_SHOWN, ...ANCHORED },
  },
  {
    name: 'redacted-no-names-anchored',
    what: 'the leaves of all files, and the transaction that published the statement',
    document: redactedOf(null, { anchor: anchorOf(plain.id) }),
    given: GIVEN,
    rpc: known(plain),
    expect: { ...NO_NAMES, ...ANCHORED },
  },
  folder('chosen-folder', 'redacted-chosen', 'a folder with these files and others', CONTENTS, {
    ...SOME_SHOWN,
    files_match: 'passed',
  }),
  folder('no-names-folder', 'redacted-no-names', 'a folder with all files: their names follow', CONTENTS, ALL_KNOWN),
  folder(
    'no-names-folder-more',
    'redacted-no-names',
    'a folder with an additional file',
    { ...CONTENTS, x: 'x' },
    {
      ...ALL_KNOWN,
      files_match: 'failed',
    },
  ),
]

/** The chosen bundle with another row in place of its first. */
function row(name: string, what: string, change: JsonObject, expect: Case['expect'] = NOT_INCLUDED): Case {
  return redacted(name, what, changed(chosen, 'files', [{ ...first, ...change }, second]), expect)
}

function listOfLeaves(name: string, what: string, list: Json, expect: Case['expect'] = OTHER_LEAVES): Case {
  return redacted(`leaves-${name}`, what, changed(unnamed, 'leaf_hashes', list), expect)
}

function altered(name: string, what: string, change: JsonObject, expect: Facts): Case {
  const order: Order = { alter: (body) => Object.assign(body, change) }
  return redacted(`signed-${name}`, what, redactedOf(NAMES, order), { ...SOME_SHOWN, ...expect })
}

const steps = first.proof as JsonObject[]
const BAD_PROOF = { refused: 'bad_file_proof' }

export const BAD_REDACTED: Case[] = [
  row('renamed', 'a shown file under another name', { filename: 'x.txt' }),
  row('resized', 'a shown file of another size', { size_bytes: 7 }),
  row('rehashed', 'a shown file of another content', { content_hash: sha256('other') }),
  row('proof-of-other', 'a file with the place and proof of another', {
    leaf_index: second.leaf_index as Json,
    proof: second.proof as Json,
  }),
  row('proof-altered', 'a proof with another hash', {
    proof: [{ ...steps[0], hash: sha256('other') }, ...steps.slice(1)],
  }),
  row('proof-cut', 'a proof without its last step', { proof: steps.slice(0, -1) }),
  row('proof-longer', 'a proof with an additional step', {
    proof: [...steps, { hash: leaves[0] as string, position: 'right' }],
  }),
  row('node-as-file', 'two leaves of the tree as the name of a file', { filename: leaves.slice(0, 2).join('') }),
  redacted(
    'index-beyond',
    'the place of a leaf that is only there because a last one pairs with itself',
    changed(
      changed(redactedOf(['c'], { files: three }), 'files.0.leaf_index', 3),
      'files.0.proof',
      proofOf([...three, { ...(three[2] as PackFile), filename: 'c' }], 3),
    ),
    NOT_INCLUDED,
  ),
  redacted(
    'of-other-statement',
    'files of another statement',
    changed(chosen, 'files', redactedOf(['a', 'b'], { files: three }).files as Json),
    NOT_INCLUDED,
  ),
  redacted(
    'of-two-statements',
    'one file of another statement',
    changed(chosen, 'files', [first, ...(redactedOf(['a'], { files: three }).files as JsonObject[])]),
    NOT_INCLUDED,
  ),
  row('index-other', 'the place of another leaf with the sides of this one', { leaf_index: 0 }, BAD_PROOF),
  row('index-negative', 'a negative place', { leaf_index: -1 }, BAD_PROOF),
  row('index-text', 'a place in quotes', { leaf_index: '1' }, BAD_PROOF),
  row('index-null', 'no place', { leaf_index: null }, BAD_PROOF),
  row('proof-null', 'no proof', { proof: null }, BAD_PROOF),
  row(
    'proof-too-deep',
    'a proof of 33 steps',
    { proof: Array.from({ length: 33 }, () => ({ ...steps[0] })) },
    BAD_PROOF,
  ),
  row('proof-of-texts', 'hashes without their sides', { proof: steps.map(({ hash }) => hash as Json) }, BAD_PROOF),
  row(
    'proof-capitals',
    'a hash in upper case',
    { proof: steps.map((step) => ({ ...step, hash: 'A'.repeat(64) })) },
    BAD_PROOF,
  ),
  row('proof-more', 'a step with an additional field', { proof: steps.map((step) => ({ ...step, x: 1 })) }, BAD_PROOF),
  redacted('twice', 'one file twice', changed(chosen, 'files', [first, first]), { refused: 'duplicate_filename' }),
  row('colon', 'a colon in a name', { filename: 'a:1' }, { refused: 'colon_in_filename' }),
  redacted('empty', 'no file', changed(chosen, 'files', []), { refused: 'empty_file_list' }),
  altered(
    'count',
    'a statement of more files, correctly signed',
    { file_count: 9, manifest_file_count: 9 },
    {
      inclusion_proven: 'failed',
      envelope_binds_commitment: 'failed',
    },
  ),
  altered(
    'total',
    'a statement of fewer bytes than are shown, correctly signed',
    { total_bytes: '1' },
    {
      envelope_binds_commitment: 'failed',
    },
  ),
  altered(
    'snapshot',
    'a snapshot id that does not follow, correctly signed',
    { snapshot_id: '0f'.repeat(32) },
    {
      envelope_binds_commitment: 'failed',
    },
  ),
  altered(
    'malformed',
    'a statement with an eighteenth field, correctly signed',
    { extra: 1 },
    {
      inclusion_proven: 'failed',
      merkle_root_matches: 'failed',
      envelope_binds_commitment: 'failed',
    },
  ),
  redacted('count-changed', 'another count in the statement', changed(chosen, 'envelope.body.file_count', 2), {
    ...UNSIGNED,
    statement_digest_matches: 'failed',
    inclusion_proven: 'failed',
    merkle_root_matches: 'failed',
    envelope_binds_commitment: 'failed',
  }),
  redacted(
    'nonce-changed',
    'a statement changed after it was signed',
    changed(unnamed, 'envelope.body.nonce', '0f'.repeat(16)),
    {
      ...NO_NAMES,
      ...UNSIGNED,
      statement_digest_matches: 'failed',
    },
  ),
  listOfLeaves('left-out', 'a leaf left out', leaves.slice(1)),
  listOfLeaves('added', 'a leaf added', [...leaves, sha256('x')]),
  listOfLeaves('altered', 'another leaf', [sha256('x'), ...leaves.slice(1)]),
  listOfLeaves('reversed', 'the leaves in another order', leaves.toReversed()),
  listOfLeaves('nodes', 'the nodes above the leaves, which have the same root', levelAbove(leaves)),
  listOfLeaves('root', 'the root as the only leaf', levelAbove(levelAbove(leaves))),
  redacted(
    'leaves-last-twice',
    'the last leaf twice, which leaves the root unchanged',
    changed(redactedOf(null, { files: three }), 'leaf_hashes', [...leavesOf(three), leavesOf(three)[2] as string]),
    { refused: 'duplicate_filename' },
  ),
  listOfLeaves('empty', 'no leaf', [], { refused: 'empty_file_list' }),
  listOfLeaves(
    'capitals',
    'leaves in upper case',
    leaves.map((leaf) => leaf.toUpperCase()),
    { refused: 'bad_leaf_hash' },
  ),
  listOfLeaves('short', 'a leaf of 63 digits', [leaves[0]?.slice(1) as string], { refused: 'bad_leaf_hash' }),
  listOfLeaves('numbers', 'numbers as leaves', [1, 2, 3, 4], { refused: 'bad_leaf_hash' }),
  listOfLeaves('files', 'entries as leaves', [first], { refused: 'bad_leaf_hash' }),
  listOfLeaves('object', 'an object instead of a list', { 0: leaves[0] as string }, { refused: 'not_a_bundle' }),
  redacted('leaves-cut', 'cut short within the leaves', JSON.stringify({ leaf_hashes: leaves }).slice(0, 100), {
    refused: 'not_strict_json',
  }),
  redacted('leaves-comma', 'a comma after the last leaf', JSON.stringify(unnamed).replace(/"\]\}$/, '",]}'), {
    refused: 'bad_leaf_hash',
  }),
  redacted('both-lists', 'files and leaves', { ...chosen, leaf_hashes: leaves }, { refused: 'not_a_bundle' }),
  redacted(
    'other-list',
    'leaves where files are promised',
    { ...unnamed, redaction: 'chosen_files' },
    {
      refused: 'not_a_bundle',
    },
  ),
  redacted(
    'unknown',
    'a redaction that does not exist',
    { ...chosen, redaction: 'toString' },
    {
      refused: 'unsupported_version',
    },
  ),
  redacted('no-envelope', 'no statement', { ...chosen, envelope: null }, { refused: 'not_a_bundle' }),
  redacted('algorithm', 'another tree', changed(chosen, 'algorithms.merkle', 'svc-merkle-v2'), {
    refused: 'unsupported_version',
  }),
  redacted(
    'whole',
    'a whole bundle that calls itself redacted',
    { ...bundleOf(), schema: chosen.schema as string },
    {
      refused: 'unsupported_version',
    },
  ),
  redacted(
    'called-whole',
    'a redacted bundle that calls itself whole',
    { ...chosen, schema: 'svc/evidence-bundle/v2' },
    {
      refused: 'unsupported_version',
    },
  ),
  folder(
    'chosen-folder-changed',
    'redacted-chosen',
    'a folder with another content of a shown file',
    { ...CONTENTS, 'readme.txt': 'jello\n' },
    {
      ...SOME_SHOWN,
      files_match: 'failed',
    },
  ),
  folder('no-names-folder-missing', 'redacted-no-names', 'a folder without one of the files', withoutReadme, {
    ...NO_NAMES,
    files_match: 'failed',
  }),
  folder(
    'no-names-folder-changed',
    'redacted-no-names',
    'a folder with another content',
    { ...CONTENTS, 'readme.txt': 'jello\n' },
    {
      ...NO_NAMES,
      files_match: 'failed',
    },
  ),
]
