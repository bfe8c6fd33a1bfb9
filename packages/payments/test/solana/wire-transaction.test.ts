import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  compileTransactionMessage,
  createTransactionMessage,
  getAddressDecoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { concat, toBase58 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeTransaction } from '../../src/solana/wire-transaction.ts'

const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => getAddressDecoder().decode(bytes))
const instruction = fc.record({
  programAddress: address,
  accounts: fc.array(
    fc.record({
      address,
      role: fc.constantFrom(...Object.values(AccountRole).filter((role) => typeof role === 'number')),
    }),
    { maxLength: 4 },
  ),
  // Long enough for lengths of two bytes.
  data: fc.uint8Array({ maxLength: 200 }),
})
const shape = fc.record({
  version: fc.constantFrom('legacy' as const, 0 as const),
  feePayer: address,
  instructions: fc.uniqueArray(instruction, { maxLength: 3, selector: ({ programAddress }) => programAddress }),
})

interface Shape {
  version: 'legacy' | 0
  feePayer: Address
  instructions: readonly {
    programAddress: Address
    accounts: { address: Address; role: AccountRole }[]
    data: Uint8Array
  }[]
}

function wireBytes({ version, feePayer, instructions }: Shape): Uint8Array {
  const blockhash = { blockhash: toBase58(new Uint8Array(32).fill(9)) as never, lastValidBlockHeight: 1n }
  const message = pipe(
    createTransactionMessage({ version }),
    (message) => setTransactionMessageFeePayer(feePayer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(blockhash, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
  )
  const compiled = compileTransactionMessage(message)
  const signers = compiled.header.numSignerAccounts
  const signatures = Array.from({ length: signers }, (_, i) => new Uint8Array(64).fill(i + 1))
  return concat(
    Uint8Array.of(signers),
    ...signatures,
    new Uint8Array(getCompiledTransactionMessageEncoder().encode(compiled)),
  )
}

it('PAY-46 the decoder reads every transaction as the library does', () => {
  fc.assert(
    fc.property(shape, (one) => {
      const bytes = wireBytes(one)
      const ours = decodeTransaction(bytes)
      const transaction = getTransactionDecoder().decode(bytes)
      const compiledMessage = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)
      expect(ours.keys.map((key) => toBase58(key))).toEqual(compiledMessage.staticAccounts)
      expect([...ours.message]).toEqual([...transaction.messageBytes])
      expect(ours.signatures.map((bytes) => [...bytes])).toEqual(
        Object.values(transaction.signatures).map((bytes) => [...(bytes ?? [])]),
      )
      if (compiledMessage.version !== 'legacy' && compiledMessage.version !== 0) throw new Error('another version')
      expect(ours.instructions.map(({ program, accounts, data }) => [program, [...accounts], [...data]])).toEqual(
        compiledMessage.instructions.map(({ programAddressIndex, accountIndices = [], data = [] }) => [
          programAddressIndex,
          [...accountIndices],
          [...data],
        ]),
      )
    }),
    { numRuns: 50 },
  )
})

it('PAY-46 T-19 the decoder rejects a transaction that is truncated or has extra bytes', () => {
  fc.assert(
    fc.property(shape, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (one, part) => {
      const bytes = wireBytes(one)
      expect(() => decodeTransaction(bytes.subarray(0, Math.floor(bytes.length * part)))).toThrow('malformed')
      expect(() => decodeTransaction(concat(bytes, Uint8Array.of(0)))).toThrow('malformed')
    }),
    { numRuns: 50 },
  )
})

it('PAY-46 T-19 the decoder rejects numbers in a longer form than needed, and unknown versions', () => {
  const bytes = wireBytes({
    version: 'legacy',
    feePayer: toBase58(new Uint8Array(32).fill(5)) as Address,
    instructions: [],
  })
  expect(decodeTransaction(bytes).keys).toHaveLength(1)
  expect(() => decodeTransaction(concat(Uint8Array.of(0x81, 0), bytes.subarray(1)))).toThrow('malformed')
  const other = Uint8Array.from(concat(bytes.subarray(0, 65), Uint8Array.of(0x81), bytes.subarray(65)))
  expect(() => decodeTransaction(other)).toThrow('malformed')
})
