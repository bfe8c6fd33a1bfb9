import { type Document, EJSON } from 'bson'
import { CommandError } from './command-error.ts'

export interface IndexSpec {
  key: Document
  name: string
  unique?: boolean
}

/** Documents by the fields of one index. */
export interface KeyIndex<T> {
  spec: IndexSpec
  /** Throws as MongoDB does when the index is unique and the key is taken by another. */
  refuseTaken(document: Document, except?: T): void
  add(document: Document, entry: T): void
  remove(document: Document, entry: T): void
  /** Null when the filter does not fix the first field. */
  candidates(filter: Document): Iterable<T> | null
}

export function createKeyIndex<T>(spec: IndexSpec): KeyIndex<T> {
  const fields = Object.keys(spec.key)
  const first = fields[0] ?? '_id'
  const byKey = new Map<string, T>()
  const byFirst = new Map<string, Set<T>>()
  const keyOf = (document: Document) => textOf(fields.map((field) => document[field]))

  return {
    spec,
    refuseTaken(document, except) {
      const taken = spec.unique && byKey.get(keyOf(document))
      if (!taken || taken === except) return
      const keyValue = Object.fromEntries(fields.map((field) => [field, document[field]]))
      const message = `E11000 duplicate key error index: ${spec.name} dup key: ${textOf(keyValue)}`
      throw new CommandError(11000, 'DuplicateKey', message, { keyPattern: spec.key, keyValue })
    },
    add(document, entry) {
      byKey.set(keyOf(document), entry)
      const firstKey = textOf(document[first])
      const group = byFirst.get(firstKey) ?? new Set()
      byFirst.set(firstKey, group.add(entry))
    },
    remove(document, entry) {
      byKey.delete(keyOf(document))
      byFirst.get(textOf(document[first]))?.delete(entry)
    },
    candidates(filter) {
      const values = first in filter ? fixedValues(filter[first]) : null
      return values && new Set(values.flatMap((value) => [...(byFirst.get(textOf(value)) ?? [])]))
    },
  }
}

/** Null when the condition does not fix the value. */
function fixedValues(condition: Document | null): unknown[] | null {
  const isOperators = Object.keys(Object(condition))[0]?.startsWith('$')
  if (!condition || !isOperators) return [condition]
  return condition.$in ?? ('$eq' in condition ? [condition.$eq] : null)
}

function textOf(value: unknown): string {
  return EJSON.stringify(value)
}

type Comparison = (value: number, bound: number) => boolean

const COMPARISONS: Record<string, Comparison> = {
  $gte: (value, bound) => value >= bound,
  $gt: (value, bound) => value > bound,
  $lte: (value, bound) => value <= bound,
  $lt: (value, bound) => value < bound,
}

/** A cheap first test that rules out documents whose numbers are outside the filter's bounds. */
export function createRuleOut(filter: Document): (document: Document) => boolean {
  const bounds = Object.entries(filter).flatMap(([field, condition]) =>
    Object.entries(COMPARISONS).flatMap(([operator, holds]) => {
      const bound = condition?.[operator]
      return typeof bound === 'number' ? [{ field, bound, holds }] : []
    }),
  )
  return (document) =>
    bounds.some(({ field, bound, holds }) => {
      const value = document[field]
      return typeof value === 'number' && !holds(value, bound)
    })
}
