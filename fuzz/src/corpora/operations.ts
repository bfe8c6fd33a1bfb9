// The operations that accept a body, from the documents that the services serve.

export interface Operation {
  /** The address of the service. */
  url: string
  name: string
  method: string
  /** With `{name}` for parameters. */
  path: string
  /** The first scheme in the list; null when only the path is needed. */
  security: string | null
  /** The ops of the envelope. */
  ops: string[]
  /** Whether the body is JSON; otherwise it is bytes, or unused. */
  takesJson: boolean
  /** Required query values. */
  query: Record<string, string>
}

interface Described {
  operationId: string
  security?: Record<string, unknown>[]
  'x-required-ops'?: string[]
  parameters: { name: string; in: string; required: boolean; example?: unknown }[]
  requestBody?: { content: Record<string, unknown> }
}

const METHODS = ['post', 'put', 'patch']

export async function operationsOf(url: string): Promise<Operation[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Described>>
  }
  return Object.entries(paths).flatMap(([path, described]) =>
    Object.entries(described)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => operationOf(url, method.toUpperCase(), path, operation)),
  )
}

function operationOf(url: string, method: string, path: string, described: Described): Operation {
  const { operationId, security = [], requestBody, parameters } = described
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  return {
    url,
    name: operationId,
    method,
    path,
    security: Object.keys(security[0] ?? {})[0] ?? null,
    // When one of several is enough, they are joined by `or`.
    ops: (described['x-required-ops'] ?? []).map((op) => op.split(' or ', 1)[0] as string),
    takesJson: requestBody !== undefined && 'application/json' in requestBody.content,
    query: Object.fromEntries(needed.map(({ name, example }) => [name, String(example ?? 'x')])),
  }
}
