import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { expect, it } from 'vitest'
import { createAudienceCheck } from '../../src/guard/audience.ts'

const own = 'https://gateway.example/storage'

function accepts(mode: 'production' | 'development', aud: unknown): boolean {
  try {
    createAudienceCheck(mode, own)({ aud } as RequestEnvelope)
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: 'AUDIENCE_MISMATCH', status: 403 })
    return false
  }
}

it("T-55 an envelope for the service's own address is accepted in any spelling", () => {
  for (const aud of [own, `${own}/`, 'HTTPS://GATEWAY.example:443/storage'])
    expect(accepts('production', aud), aud).toBe(true)
})

it.each([
  undefined,
  '',
  [own],
  'gateway.example',
  'https://gateway.example',
  'http://gateway.example/storage',
  'https://gateway.example:8443/storage',
  'https://gateway.example/storage/x',
  'https://gateway.example.evil.example/storage',
  'https://gateway.example@evil.example/storage',
])('T-55 an envelope for %j is for another service', (aud) => {
  for (const mode of ['production', 'development'] as const) expect(accepts(mode, aud)).toBe(false)
})

it('T-55 only a service in development accepts addresses of its own machine and network', () => {
  for (const aud of ['http://localhost:8402', 'http://127.0.0.1:9', 'http://[::1]:8402', 'http://gateway:80']) {
    expect(accepts('development', aud), aud).toBe(true)
    expect(accepts('production', aud), aud).toBe(false)
  }
})
