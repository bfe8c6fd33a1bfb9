// Several bundles of one proof, and the problems between them.

import { at, bundleOf, filesOf, ISSUED_AT, type Order } from './bundles.ts'
import { type Case, PINNED } from './case.ts'
import type { JsonObject } from './formats.ts'
import { STRANGER_KEY } from './keys.ts'

function statement(sequence: number, previous: JsonObject | null, order: Order = {}): JsonObject {
  const files = filesOf(
    Object.fromEntries(Array.from({ length: sequence }, (_, i) => [`${i + 1}.txt`, `file ${i + 1}`])),
  )
  const previousDigest = previous && String(at(previous, 'envelope.statement_digest'))
  return bundleOf({ files, sequence, previous: previousDigest, issuedAt: ISSUED_AT + sequence * 3600, ...order })
}

const first = statement(1, null)
const second = statement(2, first)
const third = statement(3, second)
const otherSecond = statement(2, first, { files: filesOf({ x: 'x' }) })
const otherThird = statement(3, otherSecond)
const strangersThird = statement(3, second, { key: STRANGER_KEY })
const otherProof = statement(3, second, { proofId: '0f'.repeat(16) })
const unsignedSecond = { ...second, envelope: { ...(second.envelope as JsonObject), sig_alg: 'none' } }

function link(name: string, what: string, document: JsonObject, expect: Case['expect'] = {}): Case {
  return { name: `chain-${name}`, what, document, given: PINNED, expect }
}

export const LINKS: Case[] = [
  link('1', 'the first of three statements', first),
  link('2', 'the second', second),
  link('3', 'the third', third),
  link('other-2', 'another second', otherSecond),
  link('other-3', 'the third after the other second', otherThird),
  link('strangers-3', 'a third by somebody else', strangersThird, { key_pinned: 'failed' }),
  link('other-proof', 'a third of another proof', otherProof),
  link('unsigned-2', 'a second that says it is unsigned', unsignedSecond, {
    signature_valid: 'failed',
    key_pinned: 'failed',
  }),
]

export interface ChainCase {
  what: string
  files: string[]
  given: Case['given']
  expect: { sequences: number[]; from_start: boolean; problems: string[] }
}

function chain(
  what: string,
  links: string[],
  sequences: number[],
  problems: string[] = [],
  given: Case['given'] = PINNED,
): ChainCase {
  const files = links.map((name) => (name === 'v1' ? 'v1.json' : `chain-${name}.json`))
  return { what, files, given, expect: { sequences, from_start: sequences[0] === 1, problems } }
}

export const CHAINS: ChainCase[] = [
  chain('three statements in their order', ['1', '2', '3'], [1, 2, 3]),
  chain('in any order', ['3', '1', '2'], [1, 2, 3]),
  chain('one statement', ['1'], [1]),
  chain('not from the start, and valid', ['2', '3'], [2, 3]),
  chain('nothing pinned', ['1', '2', '3'], [1, 2, 3], [], {}),
  chain('one is missing', ['1', '3'], [1, 3], ['gap']),
  chain('one appears twice', ['1', '2', '2'], [1, 2, 2], ['repeat']),
  chain('two in one place', ['1', '2', 'other-2'], [1, 2, 2], ['fork']),
  chain('a third that follows another second', ['1', '2', 'other-3'], [1, 2, 3], ['fork']),
  chain('of two proofs', ['1', '2', 'other-proof'], [1, 2, 3], ['other_proof']),
  chain('a third by somebody else', ['1', '2', 'strangers-3'], [1, 2, 3], ['failed_facts', 'other_key']),
  chain('a third by somebody else, nothing pinned', ['1', '2', 'strangers-3'], [1, 2, 3], ['other_key'], {}),
  chain('an unsigned one between', ['1', 'unsigned-2', '3'], [1, 2, 3], ['failed_facts', 'other_key', 'other_key']),
  chain('a bundle without statement', ['1', 'v1'], [1], ['no_statement']),
]
