// Checks input against its declared schema: strictly, without coercion. Reports the first problem of each field only,
// so that a long list of wrong values costs no more than a short one (T-35).

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { TObject, TSchema } from 'typebox'
import { type InvalidInput, ValidationError } from '../service-error.ts'

export type InputPart = 'body' | 'query' | 'path'

/** The number of unknown fields in a message or header. */
const MAX_UNKNOWN = 5

// A test checks the declared schemas: compiling the meta-schema would take a fifth of the start.
const ajv = new Ajv2020({ allErrors: false, strict: false, verbose: true, messages: true, validateSchema: false })

/** Compiled at first use: most requests are to a few endpoints, and compiling all of them slows down the start. */
function compiled(schema: TSchema): () => ValidateFunction {
  let check: ValidateFunction | undefined
  return () => {
    check ??= ajv.compile(schema)
    return check
  }
}

/** A function that throws a ValidationError unless its argument matches the schema. */
export function validator(part: InputPart, schema: TSchema): (value: unknown) => void {
  const checkOf = compiled(schema)
  const fields = Object.entries((schema as Partial<TObject>).properties ?? {})
  const required: readonly string[] = (schema as Partial<TObject>).required ?? []
  const unknownIn = unknownFields(schema)

  function fieldProblem(value: object, name: string, field: TSchema): InvalidInput[] {
    const given = (value as Record<string, unknown>)[name]
    if (given === undefined) return required.includes(name) ? [{ loc: [part, name], msg: missingText(value) }] : []
    return firstProblem(ajv.compile(field), given, [part, name])
  }

  /** Unknown fields are ignored, but one of them may be a misspelled required field. */
  function missingText(value: object): string {
    const named = unknownIn(value).map((name) => JSON.stringify(name))
    return named.length === 0 ? 'is required' : `is required (unknown and ignored: ${named.join(', ')})`
  }

  return (value) => {
    const check = checkOf()
    if (check(value)) return
    const ofAll = (check.errors ?? []).map((error) => problemOf([part], error))
    const ofFields =
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? fields.flatMap(([name, field]) => fieldProblem(value, name, field))
        : []
    const [first, ...rest] = ofFields.length > 0 ? ofFields : ofAll
    throw new ValidationError(first as InvalidInput, ...rest)
  }
}

/** A function that returns the names of fields that the schema of an object does not declare: some, each cut. */
export function unknownFields(schema: TSchema): (value: unknown) => string[] {
  const { properties, additionalProperties } = schema as { properties?: object; additionalProperties?: boolean }
  if (properties === undefined || additionalProperties) return () => []
  return (value) => {
    if (typeof value !== 'object' || value === null) return []
    const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
    return unknown.slice(0, MAX_UNKNOWN).map((name) => name.slice(0, 50))
  }
}

function firstProblem(check: ValidateFunction, value: unknown, loc: InvalidInput['loc']): InvalidInput[] {
  const error = check(value) ? undefined : check.errors?.[0]
  return error ? [problemOf(loc, error)] : []
}

/**
 * How many values a body of this schema can have, plus as many for unknown fields. A parser that stops there ends in a
 * few milliseconds, whatever the body is.
 */
export function maxValues(schema: TSchema): number {
  return 2 * valuesOf(schema) + 100
}

function valuesOf(schema: TSchema): number {
  const { properties = {}, items, maxItems = 0 } = schema as { properties?: object; items?: TSchema; maxItems?: number }
  const inFields = Object.values(properties).reduce((sum: number, field: TSchema) => sum + valuesOf(field), 0)
  return 1 + inFields + (items ? maxItems * valuesOf(items) : 0)
}

/** A function that returns the problem of a value, or null. */
export function schemaCheck(schema: TSchema): (value: unknown) => string | null {
  const checkOf = compiled(schema)
  return (value) => {
    const check = checkOf()
    return check(value) ? null : ajv.errorsText(check.errors, { dataVar: '' })
  }
}

function problemOf(loc: InvalidInput['loc'], error: ErrorObject): InvalidInput {
  const at = error.instancePath.split('/').slice(1).map(unescapePointer)
  const missing = error.keyword === 'required' ? [(error.params as { missingProperty: string }).missingProperty] : []
  return { loc: [...loc, ...at, ...missing], msg: missing.length > 0 ? 'is required' : explain(error) }
}

/** Array positions become numbers; everything else stays text. */
function unescapePointer(segment: string): string | number {
  const text = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(text) ? Number(text) : text
}

function explain(error: ErrorObject): string {
  const schema = error.parentSchema as { type?: string; minimum?: number; maximum?: number } | undefined
  if (error.keyword === 'enum')
    return `must be one of ${(error.params as { allowedValues: unknown[] }).allowedValues.join(', ')}`
  if (schema?.type === 'integer') return `must be an integer${bounds(schema)}`
  return error.message ?? 'is not valid'
}

function bounds({ minimum, maximum }: { minimum?: number; maximum?: number }): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` >= ${minimum}`
  return maximum === undefined ? '' : ` <= ${maximum}`
}

/** Throws for text that cannot be stored: PostgreSQL text has no NUL, and a lone surrogate has no UTF-8. */
export function requireStorableText(value: unknown, loc: [string, ...(string | number)[]]): void {
  if (isStorable(value)) return
  if (typeof value === 'string') {
    const what = value.includes('\0') ? 'NUL character' : 'lone surrogate'
    throw new ValidationError({ loc, msg: `must not contain a ${what}` })
  }
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) requireStorableText(item, [...loc, i])
  } else {
    for (const [key, item] of Object.entries(value as object)) requireStorableText(item, [...loc, key])
  }
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  return value === null || typeof value !== 'object' || Object.values(value).every(isStorable)
}
