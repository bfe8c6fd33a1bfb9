import { Validator } from '@seriousme/openapi-schema-validator'
import Type from 'typebox'
import { describe, expect, it } from 'vitest'
import { type Endpoint, endpoint } from './endpoint.ts'
import { ERROR_STATUS } from './errors.ts'
import { gatewayEndpoints } from './gateway.ts'
import { openApiDocument } from './openapi.ts'

const service = { title: 'svc', baseUrl: 'https://gateway.example' }
type Operation = { operationId: string; parameters: { name: string }[]; responses: Record<string, unknown> }
type Document = {
  openapi: string
  info: object
  paths: Record<string, Record<string, Operation>>
  components: { schemas: object }
}
const documentOf = (endpoints: readonly Endpoint[]) => openApiDocument(endpoints, service) as unknown as Document

describe('the interface description', () => {
  it('VER-22, VERS-01 is OpenAPI 3.1, valid by an independent validator', async () => {
    const document = documentOf(gatewayEndpoints)
    const validator = new Validator()
    const result = await validator.validate(structuredClone(document))
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ version: '1.0.0' })
  })

  it('VER-22 every reference leads somewhere', () => {
    const document = documentOf(gatewayEndpoints)
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      (match) => match[1],
    )
    expect(references.length).toBeGreaterThan(0)
    for (const name of references) expect(document.components.schemas).toHaveProperty(name!)
  })

  it('VER-22 has every endpoint once, each with its own operation id', () => {
    const operations = Object.values(documentOf(gatewayEndpoints).paths).flatMap((path) => Object.values(path))
    expect(operations).toHaveLength(gatewayEndpoints.length)
    expect(new Set(operations.map((operation) => operation.operationId)).size).toBe(gatewayEndpoints.length)
  })

  it('describes parameters, bodies, security and errors', async () => {
    const Part = Type.Object({ x: Type.Integer() }, { title: 'Part' })
    const example = endpoint({
      name: 'example',
      method: 'POST',
      path: '/v1/x/{id}',
      auth: { ops: ['locker:write'] },
      summary: 'an example',
      params: Type.Object({ id: Type.String() }),
      query: Type.Object({ limit: Type.Optional(Type.Integer()) }),
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

it('a status that is both an answer and an error shows both bodies', () => {
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
    content: { 'application/json': { schema: { anyOf } } },
  })
})

describe('the error table', () => {
  it.each([
    ['tx_not_found', 402],
    ['payment_verification_failed', 402],
    ['missing_receipt_id', 400],
    ['missing_result_hash_run_storage_verify_first', 400],
    ['RECEIPT_ID_MISMATCH', 401],
    ['SIGNATURE_INVALID', 403],
    ['BODY_HASH_MISMATCH', 403],
    ['MISSING_OPS', 403],
    ['EXPIRED_ENVELOPE', 403],
    ['CONTENT_NOT_FOUND', 404],
    ['receipt_not_found', 404],
    ['attestation_not_available', 409],
    ['LOCKER_LIMIT_EXCEEDED', 429],
    ['IAM_SIGNBLOB_PERMISSION_DENIED', 500],
    ['LOCKER_CAPACITY_EXCEEDED', 507],
  ] as const)('%s travels with %i', (code, status) => {
    expect(ERROR_STATUS[code]).toBe(status)
  })
})
