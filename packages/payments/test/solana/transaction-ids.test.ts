import { type Base64EncodedWireTransaction, getBase58Decoder, type KeyPairSigner } from '@solana/kit'
import { sign } from '@svc/devnet/primary-chain/dev-client'
import { fromBase58, toBase58 } from '@svc/protocol/bytes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Payments, paySol, SOL, startPayments, TO_TREASURY } from './payments.ts'

/** A transaction lands with the next slot, and the slot after that confirms it. */
const CONFIRMED_MS = 800
const FINALIZED_MS = 13_200

describe('finding a transaction', () => {
  let payments: Payments
  let payer: KeyPairSigner
  beforeAll(async () => {
    payments = await startPayments()
    payments.chain.hold()
    payer = payments.people.payer
  })
  afterAll(() => payments.stop())

  it('PAY-49 a transaction is not found until it is confirmed', async () => {
    const tx = await payments.send(payer, paySol(payer, SOL))
    expect(await payments.reader.read(tx, TO_TREASURY)).toEqual({ outcome: 'not_found' })
    payments.chain.advanceTime(CONFIRMED_MS)
    expect(await payments.reader.read(tx, TO_TREASURY)).toMatchObject({ outcome: 'found', received: SOL })
  })

  it('T-45 a payment that was processed and is gone is not found, and one that a fork has moved is found in its new slot', async () => {
    const { chain, rpc, reader } = payments
    const tx = await payments.send(payer, paySol(payer, SOL))
    const read = () => reader.read(tx, TO_TREASURY)
    chain.advanceTime(CONFIRMED_MS / 2)
    const { wire } = chain.transaction(tx)!
    chain.fork({ drop: [tx] })
    chain.advanceTime(CONFIRMED_MS)
    expect(await read()).toEqual({ outcome: 'not_found' })
    await rpc.sendTransaction(wire as Base64EncodedWireTransaction, { encoding: 'base64' }).send()
    chain.advanceTime(CONFIRMED_MS)
    const first = await read()
    expect(first).toMatchObject({ outcome: 'found', received: SOL })
    chain.fork()
    expect(await read()).toEqual({ outcome: 'not_found' })
    chain.advanceTime(CONFIRMED_MS)
    const moved = await read()
    expect(moved).toEqual({ ...first, height: expect.any(Number), blockTime: expect.any(Number) })
    expect(moved).not.toEqual(first)
  })

  it('PAY-46 a transaction is not found until it is final, if configured', async () => {
    const reader = payments.readerOf({ commitment: 'finalized' })
    const tx = await payments.send(payer, paySol(payer, SOL))
    payments.chain.advanceTime(FINALIZED_MS - 1)
    expect(await reader.read(tx, TO_TREASURY)).toEqual({ outcome: 'not_found' })
    payments.chain.advanceTime(1)
    expect(await reader.read(tx, TO_TREASURY)).toMatchObject({ outcome: 'found', received: SOL })
  })

  it('PAY-49 a transaction that was never sent is not found', async () => {
    const { signatures } = await sign(payments.rpc, payer, [paySol(payer, SOL)])
    const tx = toBase58(new Uint8Array(Object.values(signatures)[0]!))
    expect(await payments.reader.read(tx, TO_TREASURY)).toEqual({ outcome: 'not_found' })
  })

  it('T-01 only the first of several signatures is the id', async () => {
    const { relay } = payments.people
    const tx = await payments.send(relay, paySol(payer, SOL))
    payments.chain.advanceTime(CONFIRMED_MS)
    const seen = await payments.rpc.getTransaction(tx, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
    const [first, second] = seen!.transaction.signatures
    expect(await payments.reader.read(first!, TO_TREASURY)).toMatchObject({ outcome: 'found', tx })
    expect(await payments.reader.read(second!, TO_TREASURY)).toEqual({ outcome: 'not_found' })
  })

  it.each([
    ['63 bytes', bytes(63)],
    ['65 bytes', bytes(65)],
    ['a letter that is not base58', `0${bytes(64).slice(1)}`],
    ['a line end', `${bytes(64)}\n`],
    ['one more zero byte', `1${bytes(64)}`],
    ['an EVM hash', `0x${'ab'.repeat(32)}`],
    ['nothing', ''],
    ['far too many characters', '5'.repeat(100_000)],
  ])('PAY-42 %s is not a transaction id', async (_, text) => {
    expect(payments.reader.isTransactionId(text)).toBe(false)
    expect(await payments.reader.read(text, TO_TREASURY)).toEqual({
      outcome: 'rejected',
      reason: 'wrong_transaction_form',
    })
  })

  it('PAY-42 64 bytes in base58 are a transaction id, whatever they begin with', () => {
    expect(payments.reader.isTransactionId(bytes(64))).toBe(true)
    expect(payments.reader.isTransactionId('1'.repeat(64))).toBe(true)
    expect(fromBase58('1'.repeat(64), 64)).toEqual(new Uint8Array(64))
  })
})

function bytes(length: number): string {
  return getBase58Decoder().decode(new Uint8Array(length).fill(0xa7))
}
