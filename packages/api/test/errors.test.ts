import { expect, it } from 'vitest'
import { agentEndpoints } from '../src/agent/agent.ts'
import { ERROR_STATUS } from '../src/errors.ts'
import { gatewayEndpoints } from '../src/gateway.ts'

const declared = new Set([...gatewayEndpoints, ...agentEndpoints].flatMap(({ errors = [] }) => errors))

it('ERR-28 no endpoint declares the reserved code of a full locker', () => {
  expect(ERROR_STATUS.LOCKER_CAPACITY_EXCEEDED).toBe(507)
  expect(declared).not.toContain('LOCKER_CAPACITY_EXCEEDED')
})

it('ERR-30 every code that an endpoint declares has one error status', () => {
  for (const code of declared)
    expect(ERROR_STATUS[code], code).toSatisfy((status: number) => status >= 400 && status < 600)
})
