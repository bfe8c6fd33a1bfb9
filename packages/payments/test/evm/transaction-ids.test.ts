import type { DevClient } from '@svc/devnet/evm-chain/dev-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ENOUGH_GAS, type Payments, startPayments, TO_TREASURY, TREASURY } from './payments.ts'

const NOT_FOUND = { outcome: 'not_found' }
const FOUND = { outcome: 'found', received: 9n }
const HASH = `0x${'aB'.repeat(32)}`

describe('finding a transaction', () => {
  let payments: Payments
  let payer: DevClient
  beforeEach(async () => {
    payments = await startPayments()
    payer = payments.people.payer
    await payer.setAutomine(false)
  })
  afterEach(() => payments.stop())

  const pay = () => payer.sendTransaction({ to: TREASURY, value: 9n, ...ENOUGH_GAS })

  it('PAY-49 a transaction is not found until a block contains it', async () => {
    const tx = await pay()
    expect(await payer.getTransaction({ hash: tx })).toMatchObject({ blockNumber: null })
    expect(await payments.reader.read(tx, TO_TREASURY)).toEqual(NOT_FOUND)
    await payer.mine({ blocks: 1 })
    expect(await payments.reader.read(tx, TO_TREASURY)).toMatchObject(FOUND)
  })

  it('PAY-49 a transaction that was never sent is not found', async () => {
    expect(await payments.reader.read(HASH, TO_TREASURY)).toEqual(NOT_FOUND)
  })

  it('T-45 waits for the configured number of confirmations', async () => {
    const reader = payments.readerOf({ confirmations: 3 })
    const tx = await pay()
    await payer.mine({ blocks: 2 })
    expect(await reader.read(tx, TO_TREASURY)).toEqual(NOT_FOUND)
    await payer.mine({ blocks: 1 })
    expect(await reader.read(tx, TO_TREASURY)).toMatchObject(FOUND)
  })

  it('T-45 waits for the block to be final, if configured', async () => {
    const reader = payments.readerOf({ finality: 'finalized' })
    const tx = await pay()
    await payer.mine({ blocks: 2 })
    expect(await reader.read(tx, TO_TREASURY)).toEqual(NOT_FOUND)
    await payer.mine({ blocks: 1 })
    expect(await reader.read(tx, TO_TREASURY)).toMatchObject(FOUND)
  })

  it('T-45 a payment that a fork has dropped is not found, and one that it has moved is found in its new block', async () => {
    const tx = await pay()
    await payer.mine({ blocks: 1 })
    const first = await payments.reader.read(tx, TO_TREASURY)
    expect(first).toMatchObject(FOUND)
    await payments.chain.fork()
    expect(await payments.reader.read(tx, TO_TREASURY)).toEqual(NOT_FOUND)
    await payer.mine({ blocks: 1 })
    const moved = await payments.reader.read(tx, TO_TREASURY)
    expect(moved).toEqual({ ...first, height: expect.any(Number), blockTime: expect.any(Number) })
    expect(moved).not.toEqual(first)
    await payments.chain.fork({ drop: [tx] })
    await payer.mine({ blocks: 1 })
    expect(await payments.reader.read(tx, TO_TREASURY)).toEqual(NOT_FOUND)
  })

  it('T-01 a hash in upper or lower case is one transaction', async () => {
    const tx = await pay()
    await payer.mine({ blocks: 1 })
    for (const text of [tx, `0x${tx.slice(2).toUpperCase()}`, tx.toUpperCase()])
      expect(await payments.reader.read(text, TO_TREASURY)).toMatchObject({ ...FOUND, tx })
  })

  it.each([
    ['no 0x', HASH.slice(2)],
    ['31 bytes', HASH.slice(0, -2)],
    ['33 bytes', `${HASH}ab`],
    ['a letter that is not hex', `${HASH.slice(0, -1)}g`],
    ['a line end', `${HASH}\n`],
    ['base58', '5'.repeat(88)],
    ['nothing', ''],
  ])('PAY-42 %s is not a transaction id', async (_, text) => {
    expect(payments.reader.isTransactionId(text)).toBe(false)
    expect(await payments.reader.read(text, TO_TREASURY)).toEqual({
      outcome: 'rejected',
      reason: 'wrong_transaction_form',
    })
  })
})
