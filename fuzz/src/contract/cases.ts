// The requests that are sent to an operation: as declared, and with one thing wrong.

import * as fc from 'fast-check'
import { type Credential, type Draft, draftOf, type Given, queryPairs, sentBy, textOf } from './draft.ts'
import type { Sent } from './exchange.ts'
import { changesOf, headerText, STRANGE } from './mutations.ts'
import type { Operation, Schema } from './operation.ts'
import { propertiesOf, requiredOf, valuesOf } from './values.ts'

/** Meaningful values, by the name of the input. */
export type Words = Readonly<Record<string, readonly unknown[]>>

/** One request to make. */
export interface Case {
  /** The optional inputs to add, with their values. */
  optional: Readonly<Record<string, unknown>>
  /** The number of the change to make; null for none. */
  change: number | null
  /** Whether the credential is changed instead of the request. */
  ofCredential: boolean
  strange: unknown
}

export type MakeCases = (seed: number, wrong: number) => Case[]

/** The plain request, valid ones with more inputs, and `wrong` requests with one thing wrong. */
export function casesOf(operation: Operation, words: Words): MakeCases {
  const meaningful = optionalInputs(operation, (name) => wordsFor(name, words))
  const any = optionalInputs(operation, (name, schema) => [...wordsFor(name, words), valuesOf(schema)])
  const changed = fc.record({
    optional: meaningful,
    change: fc.noBias(fc.nat()),
    ofCredential: operation.security === null ? fc.constant(false) : fc.noBias(fc.nat(9)).map((one) => one === 0),
    strange: STRANGE,
  })
  const valid = any.map((optional) => ({ ...PLAIN, optional }))
  return (seed, wrong) => [
    PLAIN,
    ...fc.sample(valid, { seed, numRuns: VALID_EACH_ROUND }),
    ...fc.sample(changed, { seed, numRuns: wrong }),
  ]
}

const VALID_EACH_ROUND = 1

export const PLAIN: Case = { optional: {}, change: null, ofCredential: false, strange: null }

function wordsFor(name: string, words: Words): fc.Arbitrary<unknown>[] {
  const known = words[name]
  return known ? [fc.constantFrom(...known)] : []
}

/** Some of the optional inputs, each with one of its values; inputs without values are omitted. */
function optionalInputs(
  { parameters, body }: Operation,
  valuesFor: (name: string, schema: Schema) => fc.Arbitrary<unknown>[],
): fc.Arbitrary<Case['optional']> {
  const fields = Object.entries(body ? propertiesOf(body) : {}).map(([name, schema]) => {
    return { in: 'body', name, schema, required: body !== null && requiredOf(body).includes(name) }
  })
  const inputs = [...parameters, ...fields].flatMap(({ in: part, name, schema, required }) => {
    const values = required ? [] : valuesFor(name, schema)
    return values.length === 0 ? [] : [[`${part} ${name}`, fc.oneof(...values)] as const]
  })
  const all: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(inputs)
  return fc.record(all, { requiredKeys: [] })
}

/** The recipe's own inputs stay unchanged. */
function withOptional(draft: Draft, optional: Case['optional']): Draft {
  const filled = structuredClone(draft)
  for (const [place, value] of Object.entries(optional)) {
    const [part, name = ''] = place.split(' ')
    if (part === 'query' && !filled.query.some(([known]) => known === name))
      filled.query.push(...queryPairs(name, value))
    if (part === 'header') filled.headers[name] ??= headerText(textOf(value))
    if (part === 'body' && filled.body && 'json' in filled.body)
      filled.body.json = { [name]: value, ...Object(filled.body.json) }
  }
  return filled
}

/** The request of a case, and a description of its difference from the plain one. */
export function requestOf(
  operation: Operation,
  given: Given,
  credential: Credential,
  { optional, change, ofCredential, strange }: Case,
): { what: string; sent: Sent } {
  const draft = withOptional(draftOf(given), optional)
  if (change === null) return { what: 'as declared', sent: sentBy(operation, draft, credential) }
  if (ofCredential) {
    const sent = sentBy(operation, draft, (...request) => changedCredential(credential(...request), change, strange))
    return { what: 'with a changed credential', sent }
  }
  const changes = changesOf(operation, draft, strange)
  const chosen = changes[change % changes.length]
  if (!chosen) return { what: 'as declared', sent: sentBy(operation, draft, credential) }
  return { what: chosen.what, sent: sentBy(operation, chosen.draft, credential) }
}

function changedCredential(headers: Record<string, string>, change: number, strange: unknown): Record<string, string> {
  const names = Object.keys(headers)
  const name = names[change % names.length] ?? ''
  const { [name]: own = '', ...others } = headers
  const at = change % Math.max(1, own.length)
  const ways = [
    {},
    { [name]: '' },
    { [name]: headerText(textOf(strange)) },
    { [name]: `${own.slice(0, at)}${own[at] === 'A' ? 'B' : 'A'}${own.slice(at + 1)}` },
    { [name]: own.slice(0, -1) },
    { [name]: `${own}, ${own}` },
  ]
  return { ...others, ...ways[Math.floor(change / names.length) % ways.length] }
}
