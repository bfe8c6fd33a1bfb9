import { fromBase64 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { readWireTransaction } from '../src/wire-transaction.ts'
import { packBytes } from './pack.ts'

describe.each(['anchor-memo', 'anchor-memo-v4', 'anchor-fee-paid-by-other'])('the transaction of %s', (name) => {
  let bytes: Uint8Array
  beforeAll(async () => {
    const answers = JSON.parse(new TextDecoder().decode(await packBytes(`${name}.rpc.json`)))
    bytes = fromBase64(answers[1].result.transaction[0])!
  })

  it('CLI-03 is decoded with its signers and its memo', () => {
    const { signers, instructions } = readWireTransaction(bytes)!
    expect(signers).toHaveLength(name === 'anchor-fee-paid-by-other' ? 2 : 1)
    expect(instructions).toEqual([{ program: expect.stringMatching(/^Memo/), data: expect.anything() }])
  })

  it('CLI-03 is refused if it is truncated or has extra bytes', () => {
    for (let end = 0; end < bytes.length; end++)
      expect(readWireTransaction(bytes.subarray(0, end)), `${end}`).toBeNull()
    expect(readWireTransaction(Uint8Array.of(...bytes, 0))).toBeNull()
  })

  it('CLI-03 is refused with a flipped bit, because its signatures no longer match', () => {
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(7), (place, bit) => {
        const flipped = bytes.slice()
        flipped[place] = (flipped[place] as number) ^ (1 << bit)
        expect(readWireTransaction(flipped)).toBeNull()
      }),
      { numRuns: 100 },
    )
  })
})

it('CLI-03 random bytes are not read as a transaction', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (any) => {
      expect(readWireTransaction(any)).toBeNull()
    }),
  )
})
