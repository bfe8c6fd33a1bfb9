// For tests: bundles of the pack with changes that know the format. What is signed is often signed again, so that the
// change reaches the checks behind the signature.

import { createHash } from 'node:crypto'
import type { Random } from '@svc/devnet/properties/random'
import { fromHex, toHex, utf8 } from '@svc/protocol/bytes'
import { canonicalBytes } from '@svc/protocol/canonical'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import vectors from '../../../../vectors/protocol.json' with { type: 'json' }
import type { PackGiven } from '../pack.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json } | Raw
type Holder = Json[] | { [key: string]: Json }

/** What the pack has: a document, what is given with it, and what the node answers. */
export interface Original {
  name: string
  document: Json
  given: PackGiven
  answers: Json | null
}

export interface Mutant {
  /** The case that it comes from, and what was changed. */
  what: string
  text: string
  given: PackGiven
  answers: Json | null
}

/** Text of JSON that a value cannot have. */
class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  /** What is given is a value, not a text. */
  toJSON() {
    return null
  }
}

const VALUES: readonly Json[] = [
  ...[null, true, false, 0, 1, 2, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 32 - 1, 2 ** 53 - 1, 2 ** 53, 1e300],
  ...[
    '',
    ' ',
    '0',
    '1',
    'x',
    '\0',
    '__proto__',
    '2026-06-12T00:00:00Z',
    '2026-06-12T00:00:00.5Z',
    '2026-02-30T00:00:00Z',
  ],
  ...['ed25519', 'none', 'finalized', 'confirmed', 'oracle_v2', 'chain_sas_v1', 'chain_memo_v2', '0'.repeat(64)],
  ...[[], {}, [[]], [null], { x: 1 }],
  ...[
    '1.0',
    '-0',
    '0e5',
    '1e400',
    '1e-400',
    '1E0',
    '01',
    '"\\ud800"',
    '"\\u0000"',
    '[1,]',
    '9007199254740993',
    '1.0000000000000000001',
  ].map((text) => new Raw(text)),
  new Raw('['.repeat(28) + ']'.repeat(28)),
  new Raw('['.repeat(31) + ']'.repeat(31)),
]

const STATEMENT = signerOf(vectors.keys.statement_signing.seed_hex)
const TAG = utf8(`${vectors.evidence_envelope.domain_tag.tag}\0`)

function signerOf(seed: string): Ed25519Signer {
  return ed25519Signer(fromHex(seed) as Uint8Array)
}

export function mutantOf(random: Random, originals: readonly Original[]): Mutant {
  const original = random.pick(originals)
  const mutant = {
    document: copyOf(original.document),
    given: structuredClone(original.given),
    answers: copyOf(original.answers),
  }
  const changes: string[] = []
  for (let count = 1 + random.below(3); count > 0; count--) {
    const kind = random.below(10)
    const keys = mutant.given.pinned_keys
    if (kind === 0 && keys && !Array.isArray(keys)) changes.push(`keys: ${change(keys as Holder, random, originals)}`)
    else if (kind === 1 && mutant.answers)
      changes.push(`answers: ${change(mutant.answers as Holder, random, originals)}`)
    else if (kind === 2 && mutant.given.policy) mutant.given.policy = changeText(mutant.given.policy, random)
    else changes.push(change({ document: mutant.document }, random, originals, (value) => (mutant.document = value)))
  }
  if (random.oneIn(2)) changes.push(signAgain(mutant.document))
  let text = written(mutant.document)
  if (random.oneIn(15)) {
    text = changeText(text, random)
    changes.push('text')
  }
  const { given, answers } = JSON.parse(JSON.stringify(mutant))
  return { what: `${original.name}: ${changes.join('; ')}`, text, given, answers }
}

/** Changes one of the values, and says which. */
function change(
  root: Holder,
  random: Random,
  originals: readonly Original[],
  replaceRoot?: (value: Json) => void,
): string {
  const places = placesIn(root)
  if (places.length === 0) return 'nothing'
  const place = random.pick(places)
  const { holder, key, path } = place
  const put = (value: Json) => {
    if (Array.isArray(holder)) holder[Number(key)] = value
    else Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
    if (path === 'document') replaceRoot?.(value)
  }
  const value = valueIn(place)
  switch (random.below(9)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else delete holder[key]
      return `remove ${path}`
    case 1: {
      const other = random.pick(VALUES)
      put(copyOf(other))
      return `${path} = ${written(other).slice(0, 60)}`
    }
    case 2: {
      const other = random.pick(places)
      put(copyOf(valueIn(other)))
      return `${path} = ${other.path}`
    }
    case 3: {
      const other = random.pick(originals)
      const found = placesIn({ document: other.document }).find((one) => one.path === path)
      if (found) put(copyOf(valueIn(found)))
      return `${path} of ${other.name}`
    }
    case 4:
      if (Array.isArray(holder)) holder.splice(random.below(holder.length + 1), 0, copyOf(value))
      else holder[random.pick(['extra', 'x', random.pick(places).key])] = copyOf(value)
      return `repeat ${path}`
    case 5:
      if (Array.isArray(holder)) holder.reverse()
      return `reverse around ${path}`
    default:
      if (typeof value === 'string') put(changeText(value, random))
      else if (typeof value === 'number')
        put(random.pick([value + 1, value - 1, -value, value * 2, value + 0.5, String(value), new Raw(`${value}.0`)]))
      else if (typeof value === 'boolean') put(!value)
      else put(copyOf(random.pick(VALUES)))
      return `change ${path}`
  }
}

interface Place {
  holder: Holder
  key: string
  path: string
}

const MAX_PLACES = 3000

function placesIn(root: Holder, path = ''): Place[] {
  const places: Place[] = []
  const visit = (holder: Holder, above: string) => {
    for (const key of Object.keys(holder)) {
      if (places.length >= MAX_PLACES) return
      const place = { holder, key, path: above === '' ? key : `${above}.${key}` }
      places.push(place)
      const value = valueIn(place)
      if (typeof value === 'object' && value !== null && !(value instanceof Raw)) visit(value, place.path)
    }
  }
  visit(root, path)
  return places
}

const valueIn = ({ holder, key }: Pick<Place, 'holder' | 'key'>) => (holder as { [key: string]: Json })[key] as Json

function copyOf(value: Json): Json {
  if (typeof value !== 'object' || value === null || value instanceof Raw) return value
  if (Array.isArray(value)) return value.map(copyOf)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyOf(member)]))
}

/** One character, piece or line more, less or different. */
function changeText(text: string, random: Random): string {
  const lines = text.split('\n')
  const at = random.below(lines.length)
  if (lines.length > 2 && random.oneIn(2)) {
    const line = lines[at] as string
    if (random.oneIn(3)) lines.splice(at, 1)
    else if (random.oneIn(2)) lines.splice(random.below(lines.length), 0, line)
    else lines.splice(at, 1, lines[random.below(lines.length)] as string)
    return lines.join('\n')
  }
  const start = random.below(text.length + 1)
  const digit = text[start]
  switch (random.below(6)) {
    case 0:
      return text.slice(0, start) + text.slice(start + 1)
    case 1:
      return (
        text.slice(0, start) +
        random.pick(['0', 'a', ' ', '\n', '=', 'é', '\0', '🎈', '+', ':', '"', ',']) +
        text.slice(start)
      )
    case 2:
      return text.toUpperCase()
    case 3:
      return text.slice(0, start)
    case 4:
      return `sha256:${text}`
    default:
      return digit === undefined
        ? `${text}0`
        : text.slice(0, start) + (digit === '0' ? '1' : '0') + text.slice(start + 1)
  }
}

/** Signs the body of the envelope anew, with the key of the pack. */
function signAgain(document: Json): string {
  const envelope = (document as { envelope?: { [key: string]: Json } } | null)?.envelope
  if (typeof envelope !== 'object' || envelope === null) return 'not signed'
  try {
    const digest = createHash('sha256')
      .update(canonicalBytes(JSON.parse(written(envelope.body as Json))))
      .digest()
    envelope.statement_digest = toHex(digest)
    envelope.signature = toHex(STATEMENT.sign(new Uint8Array([...TAG, ...digest])))
    return 'signed again'
  } catch {
    return 'not signed' // the body has no canonical form
  }
}

function written(value: Json): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.keys(value)
      .map((key) => `${JSON.stringify(key)}:${written(value[key] as Json)}`)
      .join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
