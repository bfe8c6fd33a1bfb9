// File lists that differ from the statement's, and invalid lists.

import { at, bundleOf, bundleV1, CONTENTS, changed, FILES, filesOf } from './bundles.ts'
import { type Case, type Facts, OF_V1, PINNED } from './case.ts'
import type { Json, JsonObject } from './formats.ts'

const base = bundleOf()
const v1 = bundleV1()
const [first, ...others] = FILES.map((file): JsonObject => ({ ...file }))
const row = first as JsonObject

const ROOT_DIFFERS: Facts = { merkle_root_matches: 'failed', envelope_binds_commitment: 'failed' }
const BINDS_NOT: Facts = { envelope_binds_commitment: 'failed' }

function list(name: string, what: string, files: Json, expect: Case['expect'] = ROOT_DIFFERS): Case {
  return { name: `list-${name}`, what, document: changed(base, 'files', files), given: PINNED, expect }
}

function entry(name: string, what: string, change: JsonObject, code = 'bad_file_entry'): Case {
  return list(name, what, [{ ...row, ...change }, ...others], { refused: code })
}

function commitment(name: string, what: string, field: string, value: Json, expect: Facts): Case {
  const document = changed(base, `commitment.${field}`, value)
  return { name: `commitment-${name}`, what, document, given: PINNED, expect }
}

const flipped = (hash: Json) => `${String(hash).slice(0, -1)}${String(hash).endsWith('0') ? '1' : '0'}`

const UNSAFE_NAMES = [
  '../up',
  'a/../../up',
  '/root',
  'a//b',
  'a/./b',
  '.',
  '..',
  'a\\b',
  '\\\\host\\share',
  'nul\0byte',
  'a/',
]
const UNSAFE = Object.fromEntries(UNSAFE_NAMES.map((name) => [name, 'x']))

export const BAD_FILE_LISTS: Case[] = [
  list('renamed', 'a file under another name', [{ ...row, filename: 'x.txt' }, ...others]),
  list('resized', 'a file of another size', [{ ...row, size_bytes: 7 }, ...others]),
  list('rehashed', 'a file of another content', [
    { ...row, content_hash: flipped(row.content_hash as string) },
    ...others,
  ]),
  list('left-out', 'a file left out', others),
  list('added', 'a file added', [row, ...others, { ...row, filename: 'z' }]),
  list('size-moved', 'bytes moved from one file to another: the total is the same', [
    { ...row, size_bytes: (row.size_bytes as number) + 1 },
    { ...others[0], size_bytes: (others[0]?.size_bytes as number) - 1 },
    ...others.slice(1),
  ]),
  list(
    'last-twice',
    'the last file twice, which leaves the root unchanged',
    [row, ...others, others.at(-1) as JsonObject],
    {
      refused: 'duplicate_filename',
    },
  ),
  list('twice-apart', 'one name twice, far apart', [row, ...others, { ...row, size_bytes: 9 }], {
    refused: 'duplicate_filename',
  }),
  list('empty', 'no file', [], { refused: 'empty_file_list' }),
  list('not-a-list', 'an object instead of a list', { 0: row }, { refused: 'not_a_bundle' }),
  list('null', 'null instead of a list', null, { refused: 'not_a_bundle' }),
  list(
    'of-strings',
    'names instead of entries',
    FILES.map(({ filename }) => filename),
    { refused: 'bad_file_entry' },
  ),
  list('of-lists', 'lists instead of entries', [[1], [2]], { refused: 'bad_file_entry' }),
  list('of-null', 'null instead of an entry', [row, null], { refused: 'bad_file_entry' }),
  entry('colon', 'a colon in a name', { filename: 'a:1' }, 'colon_in_filename'),
  entry('no-name', 'an empty name', { filename: '' }),
  entry('name-not-text', 'a number as a name', { filename: 7 }),
  entry('size-negative', 'a negative size', { size_bytes: -1 }),
  entry('size-fraction', 'a size of one and a half', { size_bytes: 1.5 }),
  entry('size-text', 'a size in quotes', { size_bytes: '6' }),
  entry('size-too-large', 'a size beyond 2^53 - 1', { size_bytes: 2 ** 53 }),
  entry('size-null', 'no size', { size_bytes: null }),
  entry('hash-short', 'a hash of 63 digits', { content_hash: 'a'.repeat(63) }),
  entry('hash-upper-case', 'a hash in upper case', { content_hash: 'A'.repeat(64) }),
  entry('hash-other', 'a hash of another function', { content_hash: `sha512:${'a'.repeat(64)}` }),
  entry('hash-null', 'no hash', { content_hash: null }),
  {
    name: 'list-lone-surrogate',
    what: 'a lone surrogate in a name',
    document: JSON.stringify(base).replace('readme', '\\ud800readme'),
    given: PINNED,
    expect: { refused: 'bad_file_entry' },
  },
  commitment('count-lied', 'one leaf more than there are', 'file_count', FILES.length + 1, ROOT_DIFFERS),
  commitment('count-text', 'the count in quotes', 'file_count', String(FILES.length), ROOT_DIFFERS),
  commitment('root-other', 'another root', 'merkle_root', `sha256:${'0'.repeat(64)}`, ROOT_DIFFERS),
  commitment('root-bare', 'the root without its prefix: unlike the signed text', 'merkle_root', bareRoot(), BINDS_NOT),
  commitment('root-null', 'no root', 'merkle_root', null, ROOT_DIFFERS),
  commitment('root-object', 'an object as root', 'merkle_root', { length: 71 }, ROOT_DIFFERS),
  commitment('total-other', 'another total', 'total_bytes', '1', BINDS_NOT),
  commitment('total-list', 'a list that holds the total', 'total_bytes', ['51'], BINDS_NOT),
  commitment('total-object', 'an object that has no text form', 'total_bytes', { toString: 1 }, BINDS_NOT),
  commitment('listed-other', 'another count of listed files', 'manifest_file_count', 99, BINDS_NOT),
  commitment('mode-other', 'claims that bytes were hashed', 'check_mode', 'bytes_hashed', BINDS_NOT),
  commitment('time-other', 'another time', 'attested_at', '2026-06-13T00:00:00Z', BINDS_NOT),
  {
    name: 'v1-renamed',
    what: 'version 1 with a file under another name',
    document: changed(v1, 'files.0.filename', 'x.txt'),
    given: PINNED,
    expect: { ...OF_V1, merkle_root_matches: 'failed' },
  },
  {
    name: 'v1-count-lied',
    what: 'version 1 with one leaf more than there are',
    document: changed(v1, 'commitment.file_count', FILES.length + 1),
    given: PINNED,
    expect: { ...OF_V1, merkle_root_matches: 'failed' },
  },
  {
    name: 'v1-all-replaced',
    what: 'version 1 with other files and their root under the old signature',
    document: otherFilesOldSignature(),
    given: PINNED,
    expect: { ...OF_V1, signature_valid: 'failed', key_pinned: 'failed' },
  },
  folder('missing', 'a folder without one of the files', { 'readme.txt': undefined }),
  folder('changed', 'a folder with another content of the same size', { 'readme.txt': 'jello\n' }),
  folder('shorter', 'a folder with a file cut short', { 'readme.txt': 'hello' }),
  folder('longer', 'a folder with a file with extra bytes', { 'readme.txt': 'hello\nhello\n' }),
  folder('extra', 'a folder with a file that is not attested', { 'more.txt': 'x' }),
  {
    name: 'folder-unsafe-names',
    what: 'names outside the folder are never requested',
    document: bundleOf({ files: filesOf(UNSAFE) }),
    given: { ...PINNED, files: UNSAFE },
    expect: { files_match: 'failed' },
  },
  {
    name: 'folder-empty',
    of: 'v2-hostile-names',
    what: 'an empty folder',
    given: { ...PINNED, files: {} },
    expect: { files_match: 'failed' },
  },
]

function bareRoot(): string {
  return String(at(base, 'commitment.merkle_root')).replace('sha256:', '')
}

function otherFilesOldSignature(): JsonObject {
  const forged = bundleV1(filesOf({ 'other.txt': 'other' }))
  return changed(forged, 'v1_signature.manifest_signature', at(v1, 'v1_signature.manifest_signature'))
}

function folder(name: string, what: string, change: Record<string, string | undefined>): Case {
  const files = Object.fromEntries(
    Object.entries({ ...CONTENTS, ...change }).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
  return { name: `folder-${name}`, of: 'v2', what, given: { ...PINNED, files }, expect: { files_match: 'failed' } }
}
