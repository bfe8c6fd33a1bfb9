import { expect, it } from 'vitest'
import { agentEndpoints } from '../src/agent/agent.ts'
import { gatewayEndpoints } from '../src/gateway.ts'

const all = [...gatewayEndpoints, ...agentEndpoints]

it('every POST declares whether it may be repeated, and no other endpoint does', () => {
  const posts = all.filter(({ method }) => method === 'POST')
  expect(posts.length).toBeGreaterThan(20)
  expect(all.filter(({ repeatable }) => repeatable !== undefined)).toEqual(posts)
})
