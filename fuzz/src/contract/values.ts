// Values that a JSON schema allows, and values just outside its limits.

import * as fc from 'fast-check'
import type { Schema } from './operation.ts'

/** The most items of a generated list. */
const MAX_ITEMS = 3

/** Characters of several scripts, one to four bytes long, some of them joining. The library's table takes seconds to build. */
const CHARACTER = fc.constantFrom(...'abzAZ019 -_./äßñÆ¿«Ωяש漢字ꙮ🦊𝄞', 'e\u0301', '👩\u200d🚀', '🇦🇶', '\u05d0\u05b8')
export const READABLE = fc.string({ unit: CHARACTER, maxLength: 60 })

export function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const { const: fixed, enum: words, anyOf, examples, type, pattern } = schema
  if (fixed !== undefined) return fc.constant(fixed)
  if (Array.isArray(words)) return fc.constantFrom(...words)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(valuesOf))
  if (Array.isArray(examples)) return fc.constantFrom(...examples)
  if (typeof pattern === 'string')
    return fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: lengths(schema).max })
  switch (type) {
    case 'string':
      return fc.string({
        unit: CHARACTER,
        minLength: lengths(schema).min,
        maxLength: Math.min(lengths(schema).max, 40),
      })
    case 'integer':
      return fc.integer(bounds(schema))
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valuesOf(schema.items as Schema), itemCounts(schema))
    case 'object':
      return objectsOf(schema)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objectsOf(schema: Schema): fc.Arbitrary<unknown> {
  const fields = Object.entries(propertiesOf(schema)).map(([name, field]) => [name, valuesOf(field)] as const)
  const all: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(fields)
  return fc.record(all, { requiredKeys: requiredOf(schema) })
}

/** Values one step outside a schema, and the longest and largest inside. */
export function bordersOf(schema: Schema): unknown[] {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems, enum: words, items } = schema
  const numbers = [minimum, maximum].filter((border) => typeof border === 'number')
  const borders: unknown[] = numbers.flatMap((border) => [border - 1, border, border + 1])
  if (type === 'integer') borders.push(1.5, '1', Number.MAX_SAFE_INTEGER, -1, 0)
  if (typeof minLength === 'number' && minLength > 0) borders.push('a'.repeat(minLength - 1))
  if (typeof maxLength === 'number')
    borders.push('a'.repeat(maxLength), 'a'.repeat(maxLength + 1), 'ä'.repeat(maxLength))
  if (type === 'array') {
    const [item] = fc.sample(valuesOf(items as Schema), { numRuns: 1, seed: 0 })
    if (typeof minItems === 'number' && minItems > 0) borders.push([])
    if (typeof maxItems === 'number') borders.push(Array(maxItems + 1).fill(item))
    borders.push([item, item], item)
  }
  if (Array.isArray(words)) borders.push(String(words[0]).toUpperCase(), `${words[0]} `, '')
  return borders
}

/** The fields of an object; empty for any other schema. */
export function propertiesOf({ properties = {} }: Schema): Record<string, Schema> {
  return properties as Record<string, Schema>
}

export function requiredOf({ required = [] }: Schema): string[] {
  return required as string[]
}

function bounds({ minimum, maximum }: Schema): { min: number; max: number } {
  return { min: (minimum as number) ?? -(2 ** 31), max: (maximum as number) ?? 2 ** 31 }
}

function lengths({ minLength, maxLength }: Schema): { min: number; max: number } {
  return { min: (minLength as number) ?? 0, max: (maxLength as number) ?? 200 }
}

function itemCounts({ minItems, maxItems }: Schema): { minLength: number; maxLength: number } {
  const least = (minItems as number) ?? 0
  return { minLength: least, maxLength: Math.max(least, Math.min((maxItems as number) ?? MAX_ITEMS, MAX_ITEMS)) }
}
