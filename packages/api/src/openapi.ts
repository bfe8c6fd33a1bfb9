// OpenAPI 3.1 from endpoint declarations. A schema is its own JSON Schema; one with a title becomes a component.

import { HEADER_ENVELOPE, HEADER_SIGNATURE, INTERFACE_VERSION } from '@svc/protocol/names'
import type { TObject, TSchema } from 'typebox'
import { type Endpoint, errorsOf, maxBodyBytes, requiredOps } from './endpoint.ts'
import { ErrorBody, type ErrorCode, PaymentProblem } from './errors.ts'
import { exampleFields } from './openapi-examples.ts'

type Node = { [key: string]: unknown }

const PROBLEM_TYPE = 'application/problem+json'

export function openApiDocument(
  endpoints: readonly Endpoint[],
  service: { title: string; description: string; baseUrl: string },
): Node {
  const components: Node = {}
  const paths: Record<string, Node> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace('{+', '{')
    const described = operation(endpoint, components)
    paths[path] = {
      ...paths[path],
      [endpoint.method.toLowerCase()]: described,
      ...(endpoint.head && { head: headOf(endpoint, described) }),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: service.title,
      version: INTERFACE_VERSION,
      description: service.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: service.baseUrl }],
    'x-service-info': { categories: ['storage'], docs: { homepage: service.baseUrl } },
    paths,
    components: { schemas: components, securitySchemes: SECURITY_SCHEMES },
  }
}

/** Named after their purpose, because three of them are sent as a bearer token. */
const SECURITY_SCHEMES = {
  envelope: {
    type: 'apiKey',
    in: 'header',
    name: HEADER_ENVELOPE,
    description:
      'The signed envelope in base64url. It names the request, the locker and the expiry, and is valid once.',
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: HEADER_SIGNATURE,
    description:
      'The signature over the bytes of the envelope, by the key that paid or an operator: Ed25519 in base58, or an EIP-191 personal signature with `0x`.',
  },
  identityToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A token of the identity provider that this gateway trusts.',
  },
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description: "The secret or token of the gateway's admin.",
  },
  uploadToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Upload-Token',
    description: 'The token of the upload session, from the answer that opened it.',
  },
  uploadBearer: { type: 'http', scheme: 'bearer', description: 'The same token as a bearer token.' },
}

function operation(endpoint: Endpoint, components: Node): Node {
  const { auth } = endpoint
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    security: security(endpoint),
    ...(typeof auth === 'object' && { 'x-required-ops': requiredOps(auth) }),
    ...paymentInfo(endpoint),
    parameters: [
      ...parameters('path', endpoint.params, components),
      ...parameters('query', endpoint.query, components),
      ...parameters('header', endpoint.requestHeaders, components),
    ],
    ...requestBody(endpoint, components),
    responses: { ...successes(endpoint, components), ...failures(endpoint, components) },
  }
}

/** For directories of paid services. Prices follow exchange rates, so only the 402 names amounts. */
function paymentInfo({ paymentMethods }: Endpoint): Node {
  if (!paymentMethods) return {}
  const offers = paymentMethods.map((method) => ({ intent: 'charge', method, amount: null }))
  return { 'x-payment-info': { offers } }
}

/** The statuses and headers of the GET without a body. Ranges apply only to bodies. */
function headOf({ name, responses }: Endpoint, described: Node): Node {
  const answers = Object.entries(described.responses as Record<string, Node>)
  return {
    ...described,
    operationId: `head${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    responses: Object.fromEntries(
      answers
        .filter(([status]) => !(status in responses) || status !== '206')
        .map(([status, { content: _, ...answer }]) => [status, answer]),
    ),
  }
}

function requestBody(endpoint: Endpoint, components: Node): Node {
  const { body, takesBytes } = endpoint
  const content = {
    ...(body && { 'application/json': { schema: lift(body, components), ...bodyExample(endpoint) } }),
    ...(takesBytes && { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }),
  }
  if (Object.keys(content).length === 0) return {}
  const description = takesBytes ? {} : { description: `At most ${maxBodyBytes(endpoint)} bytes.` }
  // An empty body is read as `{}`.
  const required = takesBytes ?? (body as { required?: string[] }).required !== undefined
  return { requestBody: { ...description, required, content } }
}

/** The example leaves the body out if the query can contain the same fields. */
function bodyExample({ auth, body, query }: Endpoint): Node {
  const isInQuery = query !== undefined && typeof auth === 'object' && auth.optional
  return isInQuery ? {} : { example: exampleFields(body as TObject) } // every body is an object
}

function security({ auth, isTokenOptional }: Endpoint): Node[] {
  if (typeof auth === 'object') return [{ envelope: [], signature: [] }, ...(auth.optional ? [{}] : [])]
  if (auth === 'upload-token') return [{ uploadToken: [] }, { uploadBearer: [] }]
  if (auth === 'oidc') return [{ identityToken: [] }, ...(isTokenOptional ? [{}] : [])]
  return auth === 'internal' ? [{ adminToken: [] }] : []
}

function parameters(where: 'path' | 'query' | 'header', schema: TObject | undefined, components: Node): Node[] {
  if (!schema) return []
  const examples = where === 'header' ? {} : exampleFields(schema)
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    in: where,
    required: schema.required?.includes(name) ?? false,
    schema: lift(property, components),
    ...(name in examples && { example: examples[name] }),
  }))
}

function successes(endpoint: Endpoint, components: Node): Node {
  const types = endpoint.contentTypes ?? [endpoint.contentType ?? 'application/json']
  const headers = Object.entries(endpoint.headers ?? {}).map(([name, value]) => [name, { schema: { const: value } }])
  return Object.fromEntries(
    Object.entries(endpoint.responses).map(([status, schema]) => [
      status,
      {
        description: endpoint.summary,
        ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
        content: Object.fromEntries(types.map((type) => [type, { schema: lift(schema, components) }])),
      },
    ]),
  )
}

function failures(endpoint: Endpoint, components: Node): Node {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const { code, status } of errorsOf(endpoint)) {
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const error = lift(ErrorBody, components)
  const problem = endpoint.paymentProblems && { [PROBLEM_TYPE]: { schema: lift(PaymentProblem, components) } }
  const failure = (description: string, schema: Node, codes: readonly ErrorCode[]) => ({
    description,
    ...(codes.length > 0 && { 'x-error-codes': codes }),
    content: { 'application/json': { schema } },
  })
  const declared = [...byStatus].map(([status, codes]) => {
    // A 402 may be a quote or a refused payment.
    const success = endpoint.responses[status]
    const schema = success ? { anyOf: [lift(success, components), error] } : error
    const answer = failure([...(success ? [endpoint.summary] : []), ...codes].join(', '), schema, codes)
    return [status, status === 402 ? { ...answer, content: { ...answer.content, ...problem } } : answer]
  })
  return { ...Object.fromEntries(declared), default: failure('Any other error', error, []) }
}

/** Copies a schema, replacing every part that has a title with a reference to its component. */
function lift(schema: TSchema, components: Node): Node {
  const copy = liftParts(schema as Node, components)
  const { title } = copy
  if (typeof title !== 'string') return copy
  components[title] = copy
  return { $ref: `#/components/schemas/${title}` }
}

function liftParts(schema: Node, components: Node): Node {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === 'properties') {
        const properties = Object.entries(value as Record<string, TSchema>)
        return [keyword, Object.fromEntries(properties.map(([name, part]) => [name, lift(part, components)]))]
      }
      if (Array.isArray(value)) return [keyword, value.map((part) => (isSchema(part) ? lift(part, components) : part))]
      return [keyword, isSchema(value) ? lift(value, components) : value]
    }),
  )
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
