import { expect, it } from 'vitest'
import { ChainUnavailable } from '../src/nodes/node-pool.ts'
import { agreedOutcome } from '../src/payer-node.ts'

it('ADD-24 a payment ends without moving money only if a quorum reports it and no node objects', () => {
  expect(agreedOutcome(['expired'], 1)).toBe('expired')
  expect(agreedOutcome(['failed', 'failed'], 2)).toBe('failed')
  expect(agreedOutcome(['expired'], 2)).toBe('pending')
  expect(agreedOutcome(['expired', 'pending'], 1)).toBe('pending')
  expect(agreedOutcome(['failed', 'expired'], 1)).toBe('pending')
  expect(agreedOutcome(['expired', 'failed', 'landed'], 1)).toBe('landed')
  expect(() => agreedOutcome([], 1)).toThrow(ChainUnavailable)
})
