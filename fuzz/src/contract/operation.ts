// The operations of a service, read from its OpenAPI document.

export type Schema = { readonly [keyword: string]: unknown }

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: Schema
}

export interface DeclaredAnswer {
  /** By content type; empty when an answer has no body. */
  content: Readonly<Record<string, Schema>>
  headers: Readonly<Record<string, string>>
  /** Codes that an error of this status may have. */
  codes: readonly string[]
}

export interface Operation {
  id: string
  method: string
  /** With `{name}` for parameters. */
  path: string
  /** The security scheme in use; null for operations without one. */
  security: string | null
  parameters: readonly Parameter[]
  /** The schema of a JSON body; null when none is accepted. */
  body: Schema | null
  takesBytes: boolean
  answers: Readonly<Record<string, DeclaredAnswer>>
}

export interface Description {
  operations: Operation[]
  components: Components
}

/** The shared schemas, which others reference. */
interface Components {
  schemas: Readonly<Record<string, Schema>>
}

interface WireAnswer {
  content?: Record<string, { schema: Schema }>
  headers?: Record<string, { schema: { const: string } }>
  'x-error-codes'?: string[]
}

interface WireOperation {
  operationId: string
  security: Record<string, string[]>[]
  parameters: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, WireAnswer>
}

interface Document {
  paths: Record<string, Record<string, WireOperation>>
  components: Components
}

export async function describedBy(baseUrl: string): Promise<Description> {
  const { paths, components } = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      readOperation(method.toUpperCase(), path, operation, components),
    ),
  )
  return { operations, components }
}

function readOperation(method: string, path: string, operation: WireOperation, components: Components): Operation {
  const { operationId: id, security, requestBody, responses } = operation
  const content = requestBody?.content ?? {}
  const body = content['application/json']?.schema
  return {
    id,
    method,
    path,
    security: Object.keys(security[0] ?? {})[0] ?? null,
    parameters: operation.parameters.map((parameter) => ({
      ...parameter,
      schema: whole(parameter.schema, components),
    })),
    body: body ? whole(body, components) : null,
    takesBytes: 'application/octet-stream' in content,
    answers: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, readAnswer(answer)])),
  }
}

function readAnswer({ content = {}, headers = {}, 'x-error-codes': codes = [] }: WireAnswer): DeclaredAnswer {
  return {
    content: Object.fromEntries(Object.entries(content).map(([type, { schema }]) => [type, schema])),
    headers: Object.fromEntries(Object.entries(headers).map(([name, { schema }]) => [name, schema.const])),
    codes,
  }
}

/** Replaces references by their schemas. No request has a recursive schema. */
function whole(schema: Schema, components: Components): Schema {
  const inside = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inside)
    return typeof part === 'object' && part !== null ? whole(part as Schema, components) : part
  }
  const { $ref } = schema
  const found = typeof $ref === 'string' ? components.schemas[$ref.slice('#/components/schemas/'.length)] : schema
  return Object.fromEntries(Object.entries(found ?? {}).map(([keyword, value]) => [keyword, inside(value)]))
}
