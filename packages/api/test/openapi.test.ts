import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { agentEndpoints } from '../src/agent/agent.ts'
import { type Endpoint, endpoint } from '../src/endpoint.ts'
import { gatewayEndpoints } from '../src/gateway.ts'
import { openApiDocument } from '../src/openapi.ts'
import { witnessEndpoints } from '../src/witness.ts'

const service = { title: 'svc', description: 'Keeps files.', baseUrl: 'https://gateway.example' }
type Operation = { operationId: string; parameters: { name: string }[]; responses: Record<string, unknown> }
type Document = {
  openapi: string
  info: object
  paths: Record<string, Record<string, Operation>>
  components: { schemas: object }
}
const documentOf = (endpoints: readonly Endpoint[]) => openApiDocument(endpoints, service) as unknown as Document

describe.each([
  ['the gateway', gatewayEndpoints],
  ['the agent service', agentEndpoints],
  ['a witness', witnessEndpoints],
])('the interface description of %s', (_, endpoints) => {
  it('VER-22 VERS-01 is OpenAPI 3.1, valid by an independent validator', async () => {
    const document = documentOf(endpoints)
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
    const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
    expect(document.info).toMatchObject({ version: '1.0.0', title: 'svc', description: 'Keeps files.', license })
    expect(document.openapi).toBe('3.1.0')
    const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)
    for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name!)
  })

  it('VER-22 has every endpoint once, each with its own operation id', () => {
    const operations = Object.values(documentOf(endpoints).paths).flatMap((path) => Object.values(path))
    const heads = endpoints.filter(({ head }) => head).length
    expect(operations).toHaveLength(endpoints.length + heads)
    expect(new Set(operations.map((operation) => operation.operationId)).size).toBe(operations.length)
  })
})

describe('an operation', () => {
  it('shows parameters, headers, bodies, security and errors', async () => {
    const Part = Type.Object({ x: Type.Integer() }, { title: 'Part' })
    const example = endpoint({
      name: 'example',
      method: 'POST',
      path: '/v1/x/{id}',
      auth: { ops: ['locker:write'] },
      summary: 'an example',
      params: Type.Object({ id: Type.String() }),
      query: Type.Object({ limit: Type.Optional(Type.Integer()) }),
      requestHeaders: Type.Object({ 'X-Who': Type.String(), 'X-Why': Type.Optional(Type.String()) }),
      body: Type.Object({ parts: Type.Array(Part), one: Type.Union([Part, Type.Null()]) }),
      responses: { 200: Part },
      errors: ['SIGNATURE_INVALID', 'OWNER_REQUIRED', 'not_found'],
    })
    const document = documentOf([example])
    expect((await new Validator().validate(structuredClone(document))).valid).toBe(true)
    const part = { $ref: '#/components/schemas/Part' }
    expect(document.paths['/v1/x/{id}']?.post).toMatchObject({
      security: [{ envelope: [], signature: [] }],
      'x-required-ops': ['locker:write'],
      parameters: [
        { name: 'id', in: 'path', required: true },
        { name: 'limit', in: 'query', required: false },
        { name: 'X-Who', in: 'header', required: true, schema: { type: 'string' } },
        { name: 'X-Why', in: 'header', required: false, schema: { type: 'string' } },
      ],
      requestBody: {
        content: {
          'application/json': {
            schema: { properties: { parts: { items: part }, one: { anyOf: [part, { type: 'null' }] } } },
          },
        },
      },
      responses: {
        200: { content: { 'application/json': { schema: part } } },
        403: { description: 'SIGNATURE_INVALID, OWNER_REQUIRED' },
        404: { description: 'not_found' },
        default: {},
      },
    })
  })
})

describe('the agent service', () => {
  const { paths } = documentOf(agentEndpoints)

  it('AGENT-03 declares that a confirmation names the payer, and may name the transaction in its body', () => {
    expect(paths['/v1/service/confirm']?.post?.parameters).toMatchObject([
      { name: 'X402-TX', in: 'header', required: false },
      { name: 'X-Svc-Identity', in: 'header', required: true },
    ])
  })

  it('AGENT-04 declares a quote as the answer to a delegation without a subscription', () => {
    const quote = { $ref: '#/components/schemas/SubscriptionQuote' }
    const answered = (schema: object) => ({ content: { 'application/json': { schema } } })
    expect(paths['/v1/delegate']?.post?.responses[402]).toMatchObject(answered(quote))
    // If a payment credential can be refused, 402 is an error too.
    const anyOf = [quote, { $ref: '#/components/schemas/Error' }]
    expect(paths['/v1/service/request']?.get?.responses[402]).toMatchObject(answered({ anyOf }))
  })
})

it('a status that is both an answer and an error has both bodies', () => {
  const Offer = Type.Object({ x: Type.Integer() }, { title: 'Offer' })
  const example = endpoint({
    name: 'example',
    method: 'POST',
    path: '/v1/x',
    auth: 'public',
    summary: 'an example',
    responses: { 402: Offer },
    errors: ['payment_verification_failed'],
  })
  const anyOf = [{ $ref: '#/components/schemas/Offer' }, { $ref: '#/components/schemas/Error' }]
  expect(documentOf([example]).paths['/v1/x']?.post?.responses[402]).toEqual({
    description: 'an example, payment_verification_failed',
    'x-error-codes': ['payment_verification_failed'],
    content: { 'application/json': { schema: { anyOf } } },
  })
})

it('T-125 the description includes wrong inputs, problem details, several content types and unchanged files', () => {
  const { paths, components } = documentOf(gatewayEndpoints)
  const answers = (path: string, method: string) => paths[path]?.[method]?.responses as Record<string, object>
  expect(answers('/v1/receipts/{receipt_id}', 'get')[422]).toMatchObject({ 'x-error-codes': ['validation_error'] })
  expect(answers('/health', 'get')).not.toHaveProperty('422')
  const problem = { 'application/problem+json': { schema: { $ref: '#/components/schemas/PaymentProblem' } } }
  expect(answers('/v1/storage/confirm', 'post')[402]).toMatchObject({ content: problem })
  expect(components.schemas).toHaveProperty('PaymentProblem')
  const exported = answers('/v1/internal/operations/receipts', 'get')[200] as { content: object }
  expect(Object.keys(exported.content)).toEqual(['application/x-ndjson; charset=utf-8', 'text/csv; charset=utf-8'])
  expect(Object.keys(answers('/f/{token}', 'head'))).toEqual(expect.arrayContaining(['200', '304']))
  expect(answers('/f/{token}', 'head')).not.toHaveProperty('206')
})

it('ATT-14 the description has an optional token for an attestation code, and a required one for a sponsor', () => {
  const { paths } = documentOf(gatewayEndpoints)
  expect(paths['/v1/attest-code/jwt']?.get).toMatchObject({ security: [{ identityToken: [] }, {}] })
  expect(paths['/v1/storage/sponsored-confirm']?.post).toMatchObject({ security: [{ identityToken: [] }] })
})

it('EVT-01 the description has no webhooks or callbacks', () => {
  const text = JSON.stringify(documentOf(gatewayEndpoints))
  expect(text).not.toMatch(/"(?:webhooks|callbacks)"|callback_url|webhook/)
})
