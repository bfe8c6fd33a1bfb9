// Bytes that are not strict JSON, and JSON that is not a bundle.

import { bundleOf, bundleV1, changed } from './bundles.ts'
import { type Case, PINNED } from './case.ts'
import type { Json } from './formats.ts'

const base = bundleOf()
const v1 = bundleV1()
const text = JSON.stringify(base)

function bytes(name: string, what: string, document: string | Uint8Array, code = 'not_strict_json'): Case {
  return { name: `text-${name}`, what, document, given: PINNED, expect: { refused: code } }
}

function shape(name: string, what: string, path: string, value: Json | undefined, code = 'not_a_bundle'): Case {
  const document = changed(base, path, value)
  return { name: `shape-${name}`, what, document, given: PINNED, expect: { refused: code } }
}

export const BAD_DOCUMENTS: Case[] = [
  bytes('empty', 'no bytes at all', ''),
  bytes('cut-in-list', 'cut short within the file list', text.slice(0, text.indexOf('content_hash') + 20)),
  bytes('cut-at-end', 'without its last brace', text.slice(0, -1)),
  bytes('byte-order-mark', 'a byte order mark at the start', `\ufeff${text}`),
  bytes(
    'not-utf8',
    'a byte that never occurs in UTF-8',
    Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0x7d])]),
  ),
  bytes(
    'overlong-utf8',
    'a slash in two bytes',
    Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xc0, 0xaf]), Buffer.from(`",${text.slice(1)}`)]),
  ),
  bytes('more-after-end', 'a second document after the first', `${text}{}`),
  bytes('key-twice', 'a key of the bundle twice', `{"schema":"svc/evidence-bundle/v2",${text.slice(1)}`),
  bytes('files-twice', 'two file lists, one key written with escapes', `{"\\u0066iles":[],${text.slice(1)}`),
  bytes(
    'key-twice-in-body',
    'a key of the statement twice',
    text.replace('"policy_version":1', '"policy_version":1,"policy_version":1'),
  ),
  bytes('key-twice-in-entry', 'a key of a file twice', text.replace('"size_bytes":6', '"size_bytes":6,"size_bytes":6')),
  bytes('deep', 'nested a thousand times', `{"x":${'['.repeat(1000)}${']'.repeat(1000)},${text.slice(1)}`),
  bytes(
    'deep-in-entry',
    'nested a thousand times within a file',
    text.replace('"size_bytes":6', `"x":${'['.repeat(1000)}${']'.repeat(1000)},"size_bytes":6`),
  ),
  bytes('number-too-large', 'a number beyond a double', text.replace('"size_bytes":6', '"size_bytes":1e400')),
  bytes('not-a-number', 'NaN', text.replace('"size_bytes":6', '"size_bytes":NaN')),
  bytes('leading-zero', 'a number with a leading zero', text.replace('"size_bytes":6', '"size_bytes":06')),
  bytes('control-character', 'a line break within a string', text.replace('readme', 'read\nme')),
  bytes('bad-escape', 'an escape that JSON does not define', text.replace('readme', 'read\\xme')),
  bytes('single-quotes', 'another kind of quotes', text.replace('"schema"', "'schema'")),
  bytes('comment', 'a comment', text.replace('{', '{/* */')),
  bytes('comma-at-end', 'a comma after the last field', `${text.slice(0, -1)},}`),
  bytes('comma-at-end-of-list', 'a comma after the last file', text.replace('}],"envelope"', '},],"envelope"')),
  bytes('no-comma-in-list', 'no comma between two files', text.replace('},{"filename"', '}{"filename"')),
  bytes('comma-first-in-list', 'a comma before the first file', text.replace('"files":[', '"files":[,')),
  bytes('wrong-bracket', 'a list closed by a brace', text.replace('}],"envelope"', '}},"envelope"')),
  bytes('null', 'null', 'null', 'not_a_bundle'),
  bytes('list', 'a list with a bundle in it', `[${text}]`, 'not_a_bundle'),
  bytes('string', 'a bundle within a string', JSON.stringify(text), 'not_a_bundle'),
  shape('schema', 'another schema', 'schema', 'svc/evidence-bundle/v3'),
  shape('no-schema', 'no schema', 'schema', undefined),
  shape('version-3', 'version 3', 'bundle_version', 3, 'unsupported_version'),
  shape('version-text', 'the version in quotes', 'bundle_version', '2', 'unsupported_version'),
  shape('version-1', 'a version-2 bundle that claims version 1', 'bundle_version', 1, 'unsupported_version'),
  shape('algorithm', 'another tree', 'algorithms.merkle', 'svc-merkle-v2', 'unsupported_version'),
  shape('no-algorithms', 'no algorithms', 'algorithms', null, 'unsupported_version'),
  shape('no-commitment', 'no commitment', 'commitment', undefined),
  shape('no-files', 'no file list', 'files', undefined),
  shape('no-envelope', 'no envelope', 'envelope', null),
  shape('envelope-text', 'an envelope in a string', 'envelope', JSON.stringify(base.envelope)),
  shape('two-signatures', 'a version-2 bundle with a version-1 signature', 'v1_signature', v1.v1_signature as Json),
  shape('anchor-text', 'a transaction instead of an anchor', 'anchor', '5xZ'),
  {
    name: 'shape-v1-without-signature',
    what: 'version 1 without its signature',
    document: changed(v1, 'v1_signature', null),
    given: PINNED,
    expect: { refused: 'not_a_bundle' },
  },
  {
    name: 'shape-v1-with-envelope',
    what: 'version 1 with an envelope',
    document: changed(v1, 'envelope', base.envelope as Json),
    given: PINNED,
    expect: { refused: 'not_a_bundle' },
  },
]
