import { expect, it } from 'vitest'
import { PROVIDER_FACTS } from '../src/providers.ts'

/** What is on the wire and in tokens that are in use: name, number, price, speed. No other test repeats this list. */
const ON_THE_WIRE = [
  ['gcs', 1, '0.25', 'direct'],
  ['mongodb', 2, '0.125', 'direct'],
  ['storj', 3, '0.25', 'direct'],
  ['arweave', 4, '2.5', 'slow'],
  ['filecoin', 5, '0.25', 'slow'],
  ['firestore', 6, '0.125', 'direct'],
]

it('GEN-10 PAY-03 providers have these names, numbers and prices, in this order', () => {
  const declared = Object.entries(PROVIDER_FACTS).map(([name, { code, price, speed }]) => [name, code, price, speed])
  expect(declared).toEqual(ON_THE_WIRE)
  expect(new Set(declared.map(([, code]) => code)).size).toBe(declared.length)
})
