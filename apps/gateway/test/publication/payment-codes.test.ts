import { honestly } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal } from '@svc/devnet/services/test-gateway'
import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { expect, it } from 'vitest'
import { readTransaction, transactionsOf, useAnchorTestbed } from './anchor-testbed.ts'
import { blindly, DOWN, muteFor } from './node-faults.ts'

const testbed = useAnchorTestbed()
const instance = forAllTests(() => testbed.open({ PUBLISH: 'statements,payments' }))

const attestPayment = (receipt_id: string, asked = instance) =>
  asked.send('POST', '/v1/internal/attest-payment', { receipt_id })

it('ATT-18 ANCH-02 the code of a payment is published once, without the receipt id', async () => {
  const receiptId = await instance.receipt(ed25519Identity())
  const { body: receipt } = await instance.send<SignedReceipt>('GET', `/v1/receipts/${receiptId}`)
  const ask = async () => {
    for (const _ of ['once', 'twice']) expect((await attestPayment(receiptId)).status).toBe(200)
    await Promise.all(Array.from({ length: 5 }, () => attestPayment(receiptId)))
  }
  expect(await transactionsOf(testbed.chain, ask)).toBe(1)
  const codes = instance.gateway.context.database.db.selectFrom('payment_codes').select(['tx', 'slot'])
  const { tx, slot } = await codes.where('receipt_id', '=', receiptId).executeTakeFirstOrThrow()
  expect(slot).toBeGreaterThan(0)
  const { instructions } = readTransaction(testbed.chain, tx!)
  expect(instructions.map(({ text }) => JSON.parse(text))).toEqual([
    { s: 'svc/payment/v1', code: paymentAttCode(receipt), net: receipt.network, tx: receipt.tx_hash },
  ])
  expect(instructions[0]!.text).not.toContain(receiptId)
})

it('INT-05 T-19 after an interruption the memo of a payment is looked up first and never sent twice', async () => {
  const noWait = await testbed.open({ PUBLISH: 'statements,payments', CHAIN_WAIT_SECONDS: 'anchor=0' })
  const receiptId = await noWait.receipt(ed25519Identity())
  const count = await transactionsOf(testbed.chain, async () => {
    testbed.node.behave(DOWN)
    expectRefusal(await attestPayment(receiptId, noWait), 502, 'anchor_failed')
    testbed.node.behave(muteFor('sendTransaction', 'getSignatureStatuses'))
    expectRefusal(await attestPayment(receiptId, noWait), 502, 'anchor_failed')
    testbed.node.behave(blindly)
    expectRefusal(await attestPayment(receiptId, noWait), 502, 'anchor_failed')
    testbed.node.behave(honestly)
    testbed.chain.settle()
    expect((await attestPayment(receiptId, noWait)).status).toBe(200)
  })
  expect(count).toBe(1)
})

it('CFG-01 the code of a payment is recorded but not published where publishing is off', async () => {
  const other = await testbed.open()
  const receiptId = await other.receipt(ed25519Identity())
  expect(await transactionsOf(testbed.chain, () => attestPayment(receiptId, other))).toBe(0)
})
