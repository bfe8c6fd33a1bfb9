import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { gatewayEndpoints } from '../src/gateway.ts'
import { openApiDocument } from '../src/openapi.ts'

interface Described {
  parameters: { name: string; in: string; required: boolean; example?: unknown }[]
  requestBody?: { content: Record<string, { example?: object }> }
}

const { paths, components } = openApiDocument(gatewayEndpoints, {
  title: 'svc',
  description: '',
  baseUrl: 'https://gateway.example',
}) as unknown as {
  paths: Record<string, Record<string, Described>>
  components: { securitySchemes: Record<string, { description?: string }> }
}

const described = gatewayEndpoints.map(
  (one) => [one, paths[one.path.replace('{+', '{')]?.[one.method.toLowerCase()] as Described] as const,
)

describe('the examples of the interface description', () => {
  it('VER-22 include a valid value for every required parameter', () => {
    for (const [{ name, params, query }, { parameters }] of described) {
      for (const one of parameters.filter(({ required }) => required)) {
        const schema = (one.in === 'path' ? params : query)?.properties[one.name]
        if (one.in === 'header') continue
        expect(one.example, `${name} ${one.name}`).toBeDefined()
        expect(Check(schema!, one.example), `${name} ${one.name}`).toBe(true)
      }
    }
  })

  it('VER-22 include a valid body for every endpoint, without optional fields except ids and names', () => {
    const bodies = described.filter(
      ([{ body, auth, query }]) => body && !(query && typeof auth === 'object' && auth.optional),
    )
    expect(bodies.length).toBeGreaterThan(15)
    for (const [{ name, body }, { requestBody }] of bodies) {
      const example = requestBody?.content['application/json']?.example
      expect(Check(body!, example), `${name} ${JSON.stringify(example)}`).toBe(true)
    }
    const quote = described.find(([{ name }]) => name === 'requestStorage')?.[1]
    expect(quote?.requestBody?.content['application/json']?.example).toEqual({ units: 1 })
  })
})

it('VER-22 every security scheme has a unique name and a description', () => {
  const { securitySchemes } = components
  expect(Object.keys(securitySchemes)).toEqual([
    'envelope',
    'signature',
    'identityToken',
    'adminToken',
    'uploadToken',
    'uploadBearer',
  ])
  for (const { description } of Object.values(securitySchemes)) expect(description).toMatch(/\S{3,}/)
})
