import type { Hex } from 'viem'
import { NodeProblem } from '../ask-nodes.ts'

// What JSON-RPC promises, held against what came. viem passes most fields on unread and takes an answer without a
// result for "there is no such transaction".

export function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new NodeProblem('an answer of no form')
  return value as Record<string, unknown> // an object that is not an array
}

export function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new NodeProblem('a list that is none')
  return value
}

export function quantity(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value)) throw new NodeProblem('a number that is none')
  return BigInt(value)
}

/** In lower case, so that equal values are equal texts. */
export function bytes(value: unknown, length?: number): Hex {
  const isHex = typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value)
  if (!isHex || (length !== undefined && value.length !== 2 + 2 * length))
    throw new NodeProblem(length === undefined ? 'bytes that are none' : `${length} bytes that are none`)
  return value.toLowerCase() as Hex // by the pattern above
}

export const hash = (value: unknown): Hex => bytes(value, 32)
export const address = (value: unknown): Hex => bytes(value, 20)
