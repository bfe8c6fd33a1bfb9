// Reads JSON schemas for display: resolves references and unions, names types, and creates example values.

import { texts } from '#texts/api'

const t = texts.operation

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  /** Set by `resolve`: the members of a union. */
  options?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}

export interface Resolved {
  schema: Schema
  /** The name of the component. */
  name?: string
  isNullable: boolean
}

/** The part of an interface description that schemas refer to. */
interface Components {
  components: { schemas: Record<string, Schema> }
}

/** A limit, because a schema may refer to itself; no real schema has longer chains of references. */
const MAX_HOPS = 20

export function resolve(
  document: Components,
  given: Schema,
  found: Resolved = { schema: {}, isNullable: false },
  hops = 0,
): Resolved {
  const { $ref, anyOf, oneOf = anyOf, ...own } = given
  if (hops > MAX_HOPS) return found
  if ($ref) {
    const name = $ref.split('/').at(-1) as string
    return resolve(document, { ...document.components.schemas[name], ...own }, { ...found, name }, hops + 1)
  }
  if (!oneOf) return { ...found, schema: own }
  const options = oneOf.filter(({ type, const: fixed }) => type !== 'null' && fixed !== null)
  const isNullable = found.isNullable || options.length < oneOf.length
  if (options.length === 1) return resolve(document, { ...own, ...options[0] }, { ...found, isNullable }, hops + 1)
  const words = options.map(({ const: fixed }) => fixed)
  return { ...found, isNullable, schema: { ...own, ...(words.includes(undefined) ? { options } : { enum: words }) } }
}

export function typeName(document: Components, given: Schema): string {
  const { schema, name, isNullable } = resolve(document, given)
  const { type, options, items, properties, enum: words = [schema.const] } = schema
  const plain = type ?? (words[0] === undefined ? t.any : typeof words[0])
  const single =
    type === 'object' || properties ? (name ?? 'object') : items ? t.arrayOf(typeName(document, items)) : String(plain)
  const union = options && (name ?? [...new Set(options.map((option) => typeName(document, option)))].join(t.or))
  return (union ?? single) + (isNullable ? t.orNull : '')
}

export interface Inner {
  name: string
  schema: Schema
  isRequired: boolean
}

/** The fields, entries or forms inside a schema. */
export function inside(document: Components, given: Schema): Inner[] {
  const {
    options = [],
    properties = {},
    patternProperties = {},
    items,
    additionalProperties,
    required,
  } = resolve(document, given).schema
  if (options.some((option) => inside(document, option).length > 0))
    return options.map((schema, i) => ({ name: t.form(i + 1), schema, isRequired: false }))
  if (items) return inside(document, items)
  const maps = [...Object.values(patternProperties), additionalProperties].filter((map) => typeof map === 'object')
  return [
    ...Object.entries(properties).map(([name, schema]) => ({
      name,
      schema,
      isRequired: required?.includes(name) ?? false,
    })),
    ...maps.map((schema) => ({ name: t.anyKey, schema, isRequired: false })),
  ]
}

/** The constraints of a value besides its type, each as a word and its operand. */
export function rulesOf(document: Components, given: Schema): [word: string, values: string[]][] {
  const { schema } = resolve(document, given)
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, pattern } = schema
  const words = schema.enum ?? (schema.const === undefined ? [] : [schema.const])
  const ranges = [
    range(minimum, maximum, ''),
    range(minLength, maxLength, t.characters),
    range(minItems, maxItems, t.entries),
  ]
  return [
    ...(format ? [[format, []] as [string, string[]]] : []),
    ...ranges.filter((text) => text !== null).map((text): [string, string[]] => [text, []]),
    ...(words.length > 0 ? [[schema.enum ? t.oneOf : t.always, words.map(String)] as [string, string[]]] : []),
    ...(pattern ? [[t.matches, [pattern]] as [string, string[]]] : []),
    ...(schema.default === undefined ? [] : [[t.preset, [JSON.stringify(schema.default)]] as [string, string[]]]),
  ]
}

function range(low: number | undefined, high: number | undefined, unit: string): string | null {
  if (low === undefined) return high === undefined ? null : t.atMost(high, unit)
  return high === undefined ? t.atLeast(low, unit) : t.between(low, high, unit)
}

/** An example answer: every field with a value of the right form. */
export function sample(document: Components, given: Schema, trail: readonly string[] = []): unknown {
  const { schema, name } = resolve(document, given)
  const known = schema.const ?? schema.default ?? schema.enum?.[0]
  if (known !== undefined) return known
  if ((name && trail.includes(name)) || trail.length > MAX_HOPS) return undefined
  const inner = (part: Schema) => sample(document, part, name ? [...trail, name] : [...trail, ''])
  if (schema.options) return inner(schema.options[0] ?? {})
  if (schema.items) return [inner(schema.items)].filter((item) => item !== undefined)
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'string') return sampleText(schema.pattern)
  return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, part]) => [key, inner(part)]))
}

/** An example for the patterns of this interface: hex, hashes, times, amounts. */
function sampleText(pattern = ''): string {
  const [, prefix = '', length] = /^\^(\w+:)?\[0-9a-f\]\{(\d+)\}\$$/.exec(pattern) ?? []
  if (length) return prefix + '7e5c3a18f6d40b29'.repeat(4).slice(0, Number(length)).padEnd(Number(length), '0')
  if (pattern.startsWith('^\\d{4}-')) return '2026-01-15T09:30:00Z'
  return pattern.startsWith('^[1-9][0-9]*') ? '250000' : 'string'
}
