import type { Endpoint } from '@svc/api/endpoint'
import fastJson, { type Schema } from 'fast-json-stringify'

export type Write = (status: number, value: unknown) => string

/** Writes bodies by their declaration, which omits undeclared fields. */
export function jsonWriter(responses: Endpoint['responses']): Write {
  const writers = new Map<number, (value: unknown) => string>()
  return (status, value) => {
    let write = writers.get(status)
    if (!write) {
      const schema = responses[status]
      // Compiled at first use: compiling all of them would be the slowest part of the start.
      write = schema ? fastJson(withNullables(schema) as Schema) : JSON.stringify
      writers.set(status, write)
    }
    return write(value)
  }
}

/**
 * `anyOf: [schema, null]` in the form that the serializer optimizes. For other choices it validates each value to find
 * the matching one, and takes twice as long for a list of files.
 */
function withNullables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullables)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts = Object.entries(schema).map(([key, part]) => [key, withNullables(part)] as const)
  const { anyOf, ...rest } = Object.fromEntries(parts) as { anyOf?: { type?: unknown }[] }
  const [choice, otherwise] = anyOf ?? []
  const isNullable = anyOf?.length === 2 && typeof choice?.type === 'string' && otherwise?.type === 'null'
  return isNullable ? { ...choice, ...rest, nullable: true } : Object.fromEntries(parts)
}
