import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseJson, stringifyJson } from '../../src/primary-chain/json.ts'

it('the JSON of the primary chain keeps integers of any size exact, and other numbers unchanged', () => {
  const text =
    '{"a":18446744073709551615,"b":[9007199254740991,9007199254740993,-9007199254740993],"c":1.5,"d":"18446744073709551615","e":1e300}'
  expect(parseJson(text)).toEqual({
    a: 18_446_744_073_709_551_615n,
    b: [9_007_199_254_740_991, 9_007_199_254_740_993n, -9_007_199_254_740_993n],
    c: 1.5,
    d: '18446744073709551615',
    e: 1e300,
  })
})

it('the JSON of the primary chain reads back every integer that it writes', () => {
  fc.assert(
    fc.property(fc.bigInt(), (value) => {
      expect(BigInt(parseJson(stringifyJson(value)) as bigint | number)).toBe(value)
    }),
  )
})
