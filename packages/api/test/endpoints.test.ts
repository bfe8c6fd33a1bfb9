import type { TObject } from 'typebox'
import { describe, expect, it } from 'vitest'
import { agentEndpoints } from '../src/agent/agent.ts'
import { gatewayEndpoints } from '../src/gateway.ts'
import { openApiDocument } from '../src/openapi.ts'
import written from './endpoints.json' with { type: 'json' }

/** An entry of `endpoints.json`, which is written by hand. */
interface Written {
  call: string
  auth: string
  headers?: string[]
  query?: string[]
  body?: string[]
  bytes?: boolean
  answers: number[]
  codes?: Record<string, string[]>
}

interface Parameter {
  name: string
  in: string
  required: boolean
  schema: { default?: unknown }
}

interface Described {
  parameters: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: JsonObject }> }
  responses: Record<string, { description: string; content?: unknown }>
  security: Record<string, unknown>[]
  'x-required-ops'?: string[]
}

interface JsonObject {
  properties: Record<string, { default?: unknown }>
  required?: string[]
}

const SECURITY: Record<string, object[]> = {
  public: [],
  'identity token': [{ identityToken: [] }],
  'optional identity token': [{ identityToken: [] }, {}],
  'admin token': [{ adminToken: [] }],
  'upload token': [{ uploadToken: [] }, { uploadBearer: [] }],
  envelope: [{ envelope: [], signature: [] }],
  'optional envelope': [{ envelope: [], signature: [] }, {}],
}

const service = { title: 'svc', description: '', baseUrl: 'https://gateway.example' }

describe.each([
  ['gateway', gatewayEndpoints, written.gateway as Written[]],
  ['agent service', agentEndpoints, written.agent as Written[]],
])('the interface of the %s', (_, endpoints, list) => {
  const { paths } = openApiDocument(endpoints, service) as unknown as {
    paths: Record<string, Record<string, Described>>
  }
  const described = ({ call }: Written) => {
    const [method = '', path = ''] = call.split(' ')
    return paths[path]?.[method.toLowerCase()]
  }

  it.each(list.map((entry) => [entry.call, entry] as const))(
    'VER-22 the description of %s matches the handwritten entry',
    (_, entry) => {
      const operation = described(entry)
      expect(operation, entry.call).toBeDefined()
      const { parameters, requestBody, responses, security } = operation as Described
      const [kind, ops] = entry.auth.split(/(?<=envelope) /)
      expect(security).toEqual(SECURITY[kind as string])
      expect(operation?.['x-required-ops']).toEqual(ops && [ops])

      const inputs = (where: string) => parameters.filter((parameter) => parameter.in === where)
      const sorted = (names: readonly string[]) => names.toSorted()
      expect(sorted(inputs('header').map(asWritten)).filter((name) => !isOurs(name))).toEqual(
        sorted(entry.headers ?? []),
      )
      expectInputs(inputs('query').map(asWritten), entry.query ?? [])
      const schema = requestBody?.content['application/json']?.schema
      expectInputs(schema ? fieldsOf(schema) : [], entry.body ?? [])
      expect('application/octet-stream' in (requestBody?.content ?? {})).toBe(entry.bytes ?? false)
      const isNeeded = entry.bytes || (entry.body ?? []).some((field) => !field.includes('?'))
      if (requestBody) expect(requestBody.required).toBe(isNeeded)

      for (const status of entry.answers) expect(responses, `${status}`).toHaveProperty(String(status))
      for (const [status, codes] of Object.entries(entry.codes ?? {})) expectCodes(responses, status, codes)
    },
  )

  it('ENV-07 ENV-19 the codes of signed requests have the status for their method', () => {
    const signed = list.filter(({ auth }) => auth.startsWith('envelope'))
    expect(signed.length).toBeGreaterThan(0)
    for (const entry of signed) {
      const method = entry.call.split(' ')[0] as keyof typeof written.signed
      const { responses } = described(entry) as Described
      for (const [status, codes] of Object.entries(written.signed[method])) expectCodes(responses, status, codes)
      const unused = method === 'GET' ? [] : ['MISSING_ENVELOPE']
      for (const code of unused) expect(JSON.stringify(responses), entry.call).not.toContain(code)
    }
  })

  it('VER-22 no operation lists a code under two statuses, and HEAD has no body', () => {
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        const codes = Object.values(responses).flatMap(({ description }) => description.match(/\b\w+_\w+\b/g) ?? [])
        expect(codes.length, `${method} ${path}`).toBe(new Set(codes).size)
        if (method === 'head') for (const answer of Object.values(responses)) expect(answer.content).toBeUndefined()
      }
    }
  })
})

it('every POST declares whether it may be repeated, and no other endpoint does', () => {
  const all = [...gatewayEndpoints, ...agentEndpoints]
  const posts = all.filter(({ method }) => method === 'POST')
  expect(all.filter(({ repeatable }) => repeatable !== undefined)).toEqual(posts)
})

/** Values that a redacted bundle contains, or that can be derived from it. */
const SHOWN = /proof_id|snapshot|digest|root|nonce|leaf|anchor|att_code|content_hash|locker_id/

it('T-33 no public endpoint of the gateway finds anything by a value in a redacted bundle', () => {
  const found = gatewayEndpoints
    .filter(({ auth }) => auth === 'public')
    .flatMap(({ name, params, query, body }) =>
      [params, query, body].flatMap((schema) =>
        Object.keys((schema as Partial<TObject> | undefined)?.properties ?? {})
          .filter((input) => SHOWN.test(input))
          .map((input) => `${name} ${input}`),
      ),
    )
  // It leads only to the same statement in the public log.
  expect(found).toEqual(['logProof statement_digest'])
})

/** Headers that we added to the interface. */
const isOurs = (header: string) => header === 'X-Svc-Identity?'

function asWritten({ name, required, schema }: Parameter): string {
  return required ? name : `${name}?${defaultOf(schema)}`
}

function fieldsOf({ properties, required = [] }: JsonObject): string[] {
  return Object.entries(properties).map(([name, schema]) =>
    required.includes(name) ? name : `${name}?${defaultOf(schema)}`,
  )
}

function defaultOf({ default: value }: { default?: unknown }): string {
  if (value === undefined) return ''
  return `=${typeof value === 'string' ? value : JSON.stringify(value)}`
}

/** Every handwritten input exists as written. Inputs that we added are optional. */
function expectInputs(found: string[], wanted: string[]): void {
  const nameOf = (input: string) => input.replace(/\?.*/, '')
  const byName = new Map(found.map((input) => [nameOf(input), input]))
  for (const input of wanted) {
    const given = byName.get(nameOf(input))
    expect(input.includes('=') ? given : given?.replace(/=.*/, '')).toBe(input)
    byName.delete(nameOf(input))
  }
  for (const added of byName.values()) expect(added).toContain('?')
}

function expectCodes(responses: Described['responses'], status: string, codes: readonly string[]): void {
  const named = responses[status]?.description.split(', ') ?? []
  for (const code of codes) expect(named, `${code} with ${status}`).toContain(code)
}
