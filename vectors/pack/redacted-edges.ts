// Redacted bundles at the edge of a rule.

import { bundleOf, CONTENTS, changed, FILES, filesOf, redactedOf, snapshotOf } from './bundles.ts'
import { type Case, type Facts, type GivenInPack, PINNED } from './case.ts'
import { type JsonObject, leavesOf, type PackFile, proofIn, rootOver, sha256 } from './formats.ts'

const MOST = 2 ** 32 - 1
const chosen = redactedOf(['readme.txt', '😀.png'])
const unnamed = redactedOf(null)
const leaves = leavesOf(FILES)

const SOME_SHOWN: Facts = {
  inclusion_proven: 'passed',
  merkle_root_matches: 'not_checked',
  envelope_binds_commitment: 'not_checked',
}
const MALFORMED: Facts = {
  inclusion_proven: 'failed',
  merkle_root_matches: 'failed',
  envelope_binds_commitment: 'failed',
}
const NO_NAMES: Facts = { inclusion_proven: 'not_checked', envelope_binds_commitment: 'not_checked' }

function edge(name: string, what: string, document: JsonObject, expect: Case['expect'], more: GivenInPack = {}): Case {
  return { name: `redacted-edge-${name}`, what, document, given: { ...PINNED, ...more }, expect }
}

/** A correctly signed bundle whose statement has this root and count. */
function stating(root: string, count: number, document: JsonObject, files: readonly PackFile[] = FILES): JsonObject {
  const { envelope } = bundleOf({
    files,
    alter(body) {
      Object.assign(body, { merkle_root: `sha256:${root}`, file_count: count, manifest_file_count: count })
      body.snapshot_id = snapshotOf(body)
    },
  })
  return { ...document, envelope: envelope as JsonObject }
}

/** One file in a tree of this many leaves, with a proof of 32 steps. */
function inLargestTree(count: number): JsonObject {
  const [file] = FILES as [PackFile]
  const index = MOST - 6
  const proof = Array.from({ length: 32 }, (_, i) => {
    return { hash: sha256(`step ${i}`), position: Math.floor(index / 2 ** i) % 2 === 1 ? 'left' : 'right' }
  })
  const root = proof.reduce(
    (node, { hash, position }) => sha256(position === 'left' ? hash + node : node + hash),
    leavesOf([file])[0] as string,
  )
  return stating(root, count, { ...chosen, files: [{ ...file, leaf_index: index, proof }] })
}

/** All but the last file, in a tree whose leaves are in the opposite order. */
function outOfOrder(): JsonObject {
  const reversed = leaves.toReversed()
  const files = FILES.slice(0, -1).map((file, i) => {
    const leaf_index = FILES.length - 1 - i
    return { ...file, leaf_index, proof: proofIn(reversed, leaf_index) }
  })
  return stating(rootOver(reversed), FILES.length, { ...chosen, files })
}

const [a, b] = leavesOf(filesOf({ a: 'a', b: 'b' })) as [string, string]
const twiceApart = stating(rootOver([a, b, a]), 3, { ...unnamed, leaf_hashes: [a, b, a] })
const reversedLeaves = stating(rootOver(leaves.toReversed()), FILES.length, {
  ...unnamed,
  leaf_hashes: leaves.toReversed(),
})

export const REDACTED_EDGES: Case[] = [
  edge('32-steps', 'a proof of 32 steps in the largest tree', inLargestTree(MOST), SOME_SHOWN),
  edge('33-bits', 'a count of 33 bits: the statement is not well formed', inLargestTree(MOST + 1), MALFORMED),
  edge(
    'total-zeros',
    'a total with a leading zero: the statement is not well formed',
    redactedOf(['readme.txt'], { alter: (body) => Object.assign(body, { total_bytes: `0${body.total_bytes}` }) }),
    MALFORMED,
  ),
  edge(
    'total-40-digits',
    'a total of 40 digits: the statement is not well formed',
    redactedOf(['readme.txt'], { alter: (body) => Object.assign(body, { total_bytes: '9'.repeat(40) }) }),
    MALFORMED,
  ),
  edge(
    'total-39-digits',
    'a total of 39 digits',
    redactedOf(['readme.txt'], { alter: (body) => Object.assign(body, { total_bytes: '9'.repeat(39) }) }),
    SOME_SHOWN,
  ),
  edge('order', 'leaves in the opposite order of the names, as they were signed', outOfOrder(), {
    ...SOME_SHOWN,
    inclusion_proven: 'failed',
  }),
  edge('index-true', 'true as the place of the second leaf', changed(chosen, 'files.0.leaf_index', true), {
    refused: 'bad_file_proof',
  }),
  edge(
    'index-bits',
    'a place with a bit more than the proof has steps',
    changed(redactedOf(['readme.txt'], { files: filesOf({ 'readme.txt': 'hello\n' }) }), 'files.0.leaf_index', 1),
    { refused: 'bad_file_proof' },
  ),
  edge(
    'prefixed',
    'a content hash with its prefix',
    changed(chosen, 'files.0.content_hash', `sha256:${FILES[1]?.content_hash}`),
    SOME_SHOWN,
  ),
  edge('entry-more', 'an unknown field of a file', changed(chosen, 'files.0.note', 'x'), SOME_SHOWN),
  edge('algorithms-more', 'an unknown algorithm', changed(chosen, 'algorithms.anchor', 'x'), SOME_SHOWN),
  edge(
    'receipt',
    'a receipt and a commitment, which mean nothing here',
    { ...chosen, receipt_id: 'x', commitment: 7 },
    SOME_SHOWN,
  ),
  edge('files-null', 'null as files beside the leaves', { ...unnamed, files: null }, { refused: 'not_a_bundle' }),
  edge('leaf-twice-apart', 'a leaf twice, not in a row', twiceApart, NO_NAMES),
  edge(
    'leaf-twice-folder',
    'a leaf twice, and a folder that has it once',
    twiceApart,
    { ...NO_NAMES, files_match: 'failed' },
    {
      files: { a: 'a', b: 'b' },
    },
  ),
  edge('leaves-reversed', 'leaves in the opposite order, as they were signed', reversedLeaves, NO_NAMES),
  edge(
    'leaves-reversed-folder',
    'the same, and a folder with all files, whose names show the right order',
    reversedLeaves,
    {
      inclusion_proven: 'not_checked',
      files_match: 'passed',
      merkle_root_matches: 'failed',
      envelope_binds_commitment: 'failed',
    },
    { files: CONTENTS },
  ),
  edge(
    'leaves-moved-folder',
    'leaves in another order than they were signed, and a folder with all files',
    changed(unnamed, 'leaf_hashes', leaves.toReversed()),
    {
      inclusion_proven: 'not_checked',
      files_match: 'passed',
      merkle_root_matches: 'failed',
      envelope_binds_commitment: 'failed',
    },
    { files: CONTENTS },
  ),
  edge(
    'all-folder-more',
    'all files shown, and a folder with one more',
    redactedOf(Object.keys(CONTENTS)),
    {
      inclusion_proven: 'passed',
      files_match: 'failed',
    },
    { files: { ...CONTENTS, x: 'x' } },
  ),
]
