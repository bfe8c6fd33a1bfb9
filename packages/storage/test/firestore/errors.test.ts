import { inspect } from 'node:util'
import { status } from '@grpc/grpc-js'
import { expect, it } from 'vitest'
import { isPassing, troubleOf } from '../../src/firestore/errors.ts'

function told(code: status, message = 'no'): Error {
  return Object.assign(new Error(`${code} ${status[code]}: ${message}`), { code })
}

it.each([
  [status.UNAUTHENTICATED, 'closed', false],
  [status.PERMISSION_DENIED, 'closed', false],
  [status.NOT_FOUND, 'closed', false],
  [status.FAILED_PRECONDITION, 'closed', false],
  [status.RESOURCE_EXHAUSTED, 'full', true],
  [status.UNAVAILABLE, 'unavailable', true],
  [status.INTERNAL, 'unavailable', true],
  [status.ABORTED, 'unavailable', true],
  [status.UNKNOWN, 'unavailable', true],
  [status.DEADLINE_EXCEEDED, 'unavailable', false],
  [status.INVALID_ARGUMENT, 'unavailable', false],
])('status %i means that the provider is %s', (code, reason, passes) => {
  const trouble = troubleOf(told(code))
  expect([trouble.reason, isPassing(trouble)]).toEqual([reason, passes])
})

it('a key that is good no longer closes the provider', () => {
  const message = 'Getting metadata from plugin failed with error: invalid_grant: Invalid JWT Signature.'
  const trouble = troubleOf(told(status.UNKNOWN, message))
  expect([trouble.reason, isPassing(trouble)]).toEqual(['closed', false])
})

it('T-31 without credentials the provider is closed, and nothing of a request is kept', () => {
  const error = Object.assign(new Error('Could not load the default credentials.'), { config: { data: 's3cret' } })
  const trouble = troubleOf(error)
  expect(trouble.reason).toBe('closed')
  expect(inspect(trouble, { depth: 9 })).toContain('Could not load')
  expect(inspect(trouble, { depth: 9 })).not.toContain('s3cret')
})
