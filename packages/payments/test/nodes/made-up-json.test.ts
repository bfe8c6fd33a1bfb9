// JSON of nodes, whose numbers are longer than a double holds.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, depthOf, json, mustEqual, text } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { parseJson } from '../../src/nodes/json-rpc.ts'
import { NodeProblem } from '../../src/nodes/node-pool.ts'

it('T-129 T-130 no made-up input breaks the rules of JSON of nodes', async () => {
  expect(
    await problemWith({
      examples: [
        '{"jsonrpc":"2.0","id":1,"result":{"value":18446744073709551615,"slot":7,"price":0.1234567890123456}}',
        '{"error":{"code":-32603,"message":"12345678901234567890"}}',
      ],
      words: ['[', ']', '{', '}', '1234567890123456', '-', '.', 'e5', '"', '\\', ',', ':', 'null'],
      isJson: true,
      isCostly: true,
      maxBytes: 1_000_000,
      rule(input) {
        const read = accepted(NodeProblem, () => ({ value: parseJson(text(input)) }))
        // All but long integers are as JSON.parse reads them.
        if (read && depthOf(read.value) < 1000)
          mustEqual(withoutBigInts(read.value), json(input), 'reads another value than JSON.parse')
      },
    }),
  ).toBeNull()
})

function withoutBigInts(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutBigInts)
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutBigInts(inner)]))
}
