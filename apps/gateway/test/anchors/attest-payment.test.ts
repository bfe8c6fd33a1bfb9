import { honestly } from '@svc/devnet/faulty-node'
import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse } from '../auth/lockers.ts'
import { type AnchorTestbed, readTransaction, startAnchorTestbed, transactionsOf } from './anchor-testbed.ts'
import { blindly, DOWN, forgetfully, muteFor } from './node-faults.ts'

describe('the code of a payment', () => {
  let testbed: AnchorTestbed
  let house: LockerHouse
  /** Does not wait for an outcome. */
  let impatient: LockerHouse
  beforeAll(async () => {
    testbed = await startAnchorTestbed()
    const DATABASE_URL = `sqlite:${testbed.variables.STORAGE_DIR}/gateway.db`
    house = await testbed.open({ DATABASE_URL, PAYMENT_ATTEST_PUSH: 'true' })
    impatient = await testbed.open({ DATABASE_URL, PAYMENT_ATTEST_PUSH: 'true', ANCHOR_WAIT_SECONDS: '0' })
  })
  afterEach(() => testbed.node.behave(honestly))
  afterAll(() => testbed.stop())

  const attestPayment = (receipt_id: string, at = house) =>
    at.send('POST', '/v1/internal/attest-payment', { receipt_id })
  const newReceipt = () => house.receipt(ed25519Identity())
  const noted = (receiptId: string) =>
    house.gateway.context.database.db
      .selectFrom('payment_codes')
      .selectAll()
      .where('receipt_id', '=', receiptId)
      .executeTakeFirstOrThrow()

  it('INT-02 AMB-79 ANCH-02 the code of a payment is published once, without the receipt id', async () => {
    const receiptId = await newReceipt()
    const { body: receipt } = await house.send<SignedReceipt>('GET', `/v1/receipts/${receiptId}`)
    const ask = async () => {
      for (const _ of ['once', 'twice']) expect((await attestPayment(receiptId)).status).toBe(200)
      await Promise.all(Array.from({ length: 5 }, () => attestPayment(receiptId)))
    }
    expect(await transactionsOf(testbed.chain, ask)).toBe(1)
    const { tx, slot } = await noted(receiptId)
    expect(slot).toBeGreaterThan(0)
    const { instructions } = readTransaction(testbed.chain, tx!)
    expect(instructions.map(({ text }) => JSON.parse(text))).toEqual([
      { s: 'svc/payment/v1', code: paymentAttCode(receipt), net: receipt.network, tx: receipt.tx_hash },
    ])
    expect(instructions[0]!.text).not.toContain(receiptId)
  })

  it('INT-05 T-19 after an interruption the memo of a payment is resolved first, and never sent twice', async () => {
    const receiptId = await newReceipt()
    const count = await transactionsOf(testbed.chain, async () => {
      testbed.node.behave(DOWN)
      expectRefusal(await attestPayment(receiptId, impatient), 502, 'anchor_failed')
      testbed.node.behave(muteFor('sendTransaction', 'getSignatureStatuses'))
      expectRefusal(await attestPayment(receiptId, impatient), 502, 'anchor_failed')
      testbed.node.behave(blindly)
      expectRefusal(await attestPayment(receiptId, impatient), 502, 'anchor_failed')
      testbed.node.behave(honestly)
      expect((await attestPayment(receiptId)).status).toBe(200)
    })
    expect(count).toBe(1)
  })

  it('T-19 the memo of a payment is sent again once the first transaction has expired', async () => {
    const receiptId = await newReceipt()
    testbed.node.behave(forgetfully)
    expectRefusal(await attestPayment(receiptId, impatient), 502, 'anchor_failed')
    const { tx } = await noted(receiptId)
    testbed.node.behave(honestly)
    testbed.clock.advance(3600)
    expect((await attestPayment(receiptId)).status).toBe(200)
    expect((await noted(receiptId)).tx).not.toBe(tx)
  })

  it('CFG-01 the code of a payment is only recorded unless publishing is enabled', async () => {
    const other = await testbed.open()
    const receiptId = await other.receipt(ed25519Identity())
    expect(await transactionsOf(testbed.chain, () => attestPayment(receiptId, other))).toBe(0)
  })
})
