import fc from 'fast-check'
import { serializeAttestationData } from 'sas-lib'
import { describe, expect, it } from 'vitest'
import { requireLayout } from '../../../src/primary-chain/registry/data-layout.ts'
import { ProgramFailure } from '../../../src/primary-chain/registry/failure.ts'

const number = (bits: number, signed: boolean): fc.Arbitrary<unknown> => {
  const half = 2n ** BigInt(bits - 1)
  const value = signed ? fc.bigInt(-half, half - 1n) : fc.bigInt(0n, 2n * half - 1n)
  return bits <= 32 ? value.map(Number) : value
}
const sizes = [8, 16, 32, 64, 128]
const numbers = [...sizes.map((bits) => number(bits, false)), ...sizes.map((bits) => number(bits, true))]
const char = fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => [...bytes])
const list = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.array(item, { maxLength: 4 })

/** Values by the code of their type. For the codes 24 and 25 the registry's client differs from its program. */
const values: fc.Arbitrary<unknown>[] = [
  ...numbers,
  fc.boolean(),
  char,
  fc.string(),
  ...numbers.map((item) => list(item)),
  list(fc.boolean()),
]
const fields = fc.array(
  fc.nat(values.length - 1).chain((code) => values[code]!.map((value) => ({ code, value }))),
  { minLength: 1, maxLength: 6 },
)

describe('the layout of a schema', () => {
  it('SAS-02 SAS-03 fits the data that the registry client writes by it, and no shorter or longer data', () => {
    fc.assert(
      fc.property(fields, (chosen) => {
        const layout = chosen.map(({ code }) => code)
        const data = serialize(chosen)
        requireLayout(data, layout)
        expect(() => requireLayout(Uint8Array.of(...data, 0), layout)).toThrow(ProgramFailure)
        expect(() => requireLayout(data.subarray(0, -1), layout)).toThrow(ProgramFailure)
      }),
    )
  })

  it('has characters of four bytes in a list of code 24, and texts in a list of code 25', () => {
    requireLayout(Uint8Array.of(2, 0, 0, 0, ...new Uint8Array(8)), [24])
    requireLayout(Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 65, 0, 0, 0, 0), [25])
    expect(() => requireLayout(Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 65), [25])).toThrow('inside a length')
  })
})

function serialize(chosen: readonly { code: number; value: unknown }[]): Uint8Array {
  const names = chosen.map((_, index) => `field_${index}`)
  const schema = {
    layout: Uint8Array.from(chosen, ({ code }) => code),
    fieldNames: Buffer.concat(
      names.map((name) => Buffer.concat([Buffer.from([name.length, 0, 0, 0]), Buffer.from(name)])),
    ),
  } as unknown as Parameters<typeof serializeAttestationData>[0] // the fields that are read
  return Uint8Array.from(
    serializeAttestationData(schema, Object.fromEntries(chosen.map(({ value }, index) => [names[index], value]))),
  )
}
