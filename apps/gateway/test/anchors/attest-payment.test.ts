import { honestly } from '@svc/devnet/faulty-node'
import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse } from '../auth/lockers.ts'
import { type Harbour, openHarbour, readTransaction, transactionsOf } from './anchor-gateways.ts'
import { blindly, DOWN, forgetfully, muteFor } from './node-faults.ts'

describe('the code of a payment', () => {
  let harbour: Harbour
  let house: LockerHouse
  beforeAll(async () => {
    harbour = await openHarbour()
    house = await harbour.open({ PAYMENT_ATTEST_PUSH: 'true', ANCHOR_WAIT_SECONDS: '0' })
  })
  afterEach(() => harbour.node.behave(honestly))
  afterAll(() => harbour.stop())

  const attestPayment = (receipt_id: string, at = house) =>
    at.send('POST', '/v1/internal/attest-payment', { receipt_id })
  const newReceipt = () => house.receipt(ed25519Identity())
  const noted = (receiptId: string) =>
    house.gateway.context.database.db
      .selectFrom('payment_codes')
      .selectAll()
      .where('receipt_id', '=', receiptId)
      .executeTakeFirstOrThrow()

  it('INT-02 AMB-79 ANCH-02 is published once, without the receipt id', async () => {
    const receiptId = await newReceipt()
    const { body: receipt } = await house.send<SignedReceipt>('GET', `/v1/receipts/${receiptId}`)
    const ask = async () => {
      for (const _ of ['once', 'twice']) expect((await attestPayment(receiptId)).status).toBe(200)
      await Promise.all(Array.from({ length: 5 }, () => attestPayment(receiptId)))
    }
    expect(await transactionsOf(harbour.chain, ask)).toBe(1)
    const { tx, slot } = await noted(receiptId)
    expect(slot).toBeGreaterThan(0)
    const { instructions } = readTransaction(harbour.chain, tx!)
    expect(instructions.map(({ text }) => JSON.parse(text))).toEqual([
      { s: 'svc/payment/v1', code: paymentAttCode(receipt), net: receipt.network, tx: receipt.tx_hash },
    ])
    expect(instructions[0]!.text).not.toContain(receiptId)
  })

  it('INT-05 T-19 is resolved first after an interruption, and never sent twice', async () => {
    const receiptId = await newReceipt()
    const count = await transactionsOf(harbour.chain, async () => {
      harbour.node.behave(DOWN)
      expectRefusal(await attestPayment(receiptId), 502, 'anchor_failed')
      harbour.node.behave(muteFor('sendTransaction', 'getSignatureStatuses'))
      expectRefusal(await attestPayment(receiptId), 502, 'anchor_failed')
      harbour.node.behave(blindly)
      expectRefusal(await attestPayment(receiptId), 502, 'anchor_failed')
      harbour.node.behave(honestly)
      expect((await attestPayment(receiptId)).status).toBe(200)
    })
    expect(count).toBe(1)
  })

  it('T-19 is sent again once the first transaction has expired', async () => {
    const receiptId = await newReceipt()
    harbour.node.behave(forgetfully)
    expectRefusal(await attestPayment(receiptId), 502, 'anchor_failed')
    const { tx } = await noted(receiptId)
    harbour.node.behave(honestly)
    harbour.clock.advance(3600)
    expect((await attestPayment(receiptId)).status).toBe(200)
    expect((await noted(receiptId)).tx).not.toBe(tx)
  })

  it('CFG-01 is recorded only, unless that is enabled', async () => {
    const other = await harbour.open()
    const receiptId = await other.receipt(ed25519Identity())
    expect(await transactionsOf(harbour.chain, () => attestPayment(receiptId, other))).toBe(0)
  })
})
