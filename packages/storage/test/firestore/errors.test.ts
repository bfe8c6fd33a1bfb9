import { inspect } from 'node:util'
import { status } from '@grpc/grpc-js'
import { expect, it } from 'vitest'
import { callError } from '../../src/firestore/errors.ts'

function grpcError(code: status, message = 'no'): Error {
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
])('gRPC status %i means that Firestore is %s (retryable: %s)', (code, reason, isRetryable) => {
  const error = callError(grpcError(code))
  expect([error.reason, error.isRetryable]).toEqual([reason, isRetryable])
})

it('a key that is no longer valid means that Firestore is closed', () => {
  const message = 'Getting metadata from plugin failed with error: invalid_grant: Invalid JWT Signature.'
  const error = callError(grpcError(status.UNKNOWN, message))
  expect([error.reason, error.isRetryable]).toEqual(['closed', false])
})

it('T-139 without credentials Firestore is closed, and the error contains no part of a request', () => {
  const cause = Object.assign(new Error('Could not load the default credentials.'), { config: { data: 's3cret' } })
  const error = callError(cause)
  expect(error.reason).toBe('closed')
  expect(inspect(error, { depth: 9 })).toContain('Could not load')
  expect(inspect(error, { depth: 9 })).not.toContain('s3cret')
})
