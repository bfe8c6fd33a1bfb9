// A request that an operation accepts: inputs by their usual names, generated ones where any value is valid, and its
// recipe.

import * as fc from 'fast-check'
import type { Credential, Given } from './draft.ts'
import type { Operation, Parameter, Schema } from './operation.ts'
import { propertiesOf, requiredOf, valuesOf } from './values.ts'

interface Known {
  /** By the name of the input. */
  values: Readonly<Record<string, unknown>>
  /** By the security scheme. */
  credentials: Readonly<Record<string, Credential>>
  recipes: Readonly<Record<string, () => Given | Promise<Given>>>
}

export type Prepared = Given & { credential: Credential }

const NONE: Credential = () => ({})

export function preparedBy({ values, credentials, recipes }: Known) {
  /** Deterministic. */
  const madeUp = new Map<Schema, unknown>()

  function usual(name: string, schema: Schema): unknown {
    if (name in values) return values[name]
    if (!madeUp.has(schema)) madeUp.set(schema, fc.sample(valuesOf(schema), { numRuns: 1, seed: 1 })[0])
    return madeUp.get(schema)
  }

  function required(parameters: readonly Parameter[], part: Parameter['in']): Record<string, string> {
    const wanted = parameters.filter((parameter) => parameter.in === part && parameter.required)
    return Object.fromEntries(wanted.map(({ name, schema }) => [name, String(usual(name, schema))]))
  }

  function bodyOf({ body, takesBytes }: Operation): object {
    if (body === null || takesBytes) return {}
    const fields = Object.entries(propertiesOf(body)).filter(([name]) => requiredOf(body).includes(name))
    return { body: Object.fromEntries(fields.map(([name, schema]) => [name, usual(name, schema)])) }
  }

  return async (operation: Operation): Promise<Prepared> => {
    const { id, parameters, security } = operation
    const given = (await recipes[id]?.()) ?? {}
    return {
      ...bodyOf(operation),
      credential: credentials[security ?? ''] ?? NONE,
      ...given,
      path: { ...required(parameters, 'path'), ...given.path },
      query: { ...required(parameters, 'query'), ...given.query },
      headers: { ...required(parameters, 'header'), ...given.headers },
    }
  }
}
