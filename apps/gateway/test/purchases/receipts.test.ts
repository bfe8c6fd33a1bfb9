import { hash } from 'node:crypto'
import { createFreshDatabase } from '@svc/devnet/databases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { buy, expectError, openMarket, payReqId } from '@svc/devnet/services/market'
import { writable } from '@svc/devnet/writable'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { receiptId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex, ed25519Signer } from '@svc/protocol/keys'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { signReceipt } from '@svc/protocol/receipt'
import { describe, expect, it } from 'vitest'

const market = forAllTests(() => openMarket())
const database = forAllTests(() => createFreshDatabase('postgres'))
const shop = forAllTests(() => market.open({ DATABASE_URL: database.url }))
const primary = forAllTests(() => buy(market, shop, { units: 3, pay_network: 'primary-mainnet', pay_asset: 'USDC' }))
const evm = forAllTests(() => buy(market, shop, { units: 1, pay_network: 'evm-mainnet' }))

describe('GET /v1/receipts/{receipt_id}', () => {
  it('RCPT-04 RCPT-06 GET /v1/receipts/{id} answers a receipt of the primary chain', async () => {
    const { status, headers, body } = await shop.send('GET', `/v1/receipts/${primary.receipt_id}`)
    expect(status).toBe(200)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(body).toEqual({
      receipt_id: primary.receipt_id,
      pay_req_id: payReqId(primary.quote),
      proof_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      paid_amount: '0.75',
      paid_raw: '750000',
      received_raw: '750000',
      pay_asset: 'USDC',
      network: 'primary-mainnet',
      slot: expect.toSatisfy(Number.isInteger),
      sig_alg: 'ed25519',
      tx_hash: primary.tx,
      payer_pubkey: DEMO_PAYERS[0]!.address,
      units: 3,
      confirmed_at: '2026-09-01T12:00:00Z',
      result_hash: '',
      receipt_sig: expect.stringMatching(/^[0-9a-f]{128}$/),
      receipt_signer_pubkey: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(body).toEqual(primary.receipt)
  })

  it('RCPT-05 RCPT-13 GET /v1/receipts/{id} answers a receipt of the EVM chain', async () => {
    const { body } = await shop.send<SignedReceipt>('GET', `/v1/receipts/${evm.receipt_id}`)
    expect(body).toMatchObject({
      network: 'evm-mainnet',
      pay_asset: 'MON',
      block_number: expect.toSatisfy(Number.isInteger),
      sig_alg: 'secp256k1',
      tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      payer_pubkey: DEV_PAYERS[0]!.address.toLowerCase(),
      paid_raw: evm.quote.accepts[0]!.amount,
      paid_amount: evm.quote.accepts[0]!.extra.human_amount,
      result_hash: '',
    })
    expect(body).not.toHaveProperty('slot')
    expect(body).toEqual(evm.receipt)
  })

  it.each([`rcpt_${'0'.repeat(32)}`, '..%2F..%2Fetc%2Fpasswd', "'%20or%201=1--"])(
    'RCPT-03 RCPT-11 an unknown receipt is a 404 everywhere: %s',
    async (id) => {
      for (const path of ['', '/verify', '/verify-payment'])
        expectError(await shop.send('GET', `/v1/receipts/${id}${path}`), 404, 'receipt_not_found')
    },
  )

  it('T-02 a receipt cannot be read by its transaction or quote', async () => {
    for (const id of [primary.tx, payReqId(primary.quote)])
      expectError(await shop.send('GET', `/v1/receipts/${id}`), 404, 'receipt_not_found')
  })

  it('PAY-52 a receipt id is a hash of quote and transaction', () => {
    for (const { receipt, tx, quote } of [primary, evm]) {
      const id = payReqId(quote)
      expect(id).toMatch(/^pr_[0-9a-f]{32}$/)
      expect(receipt.receipt_id).toBe(`rcpt_${hash('sha256', `svc/receipt-id/v1|${id}|${tx}`).slice(0, 32)}`)
      expect(receiptId(id, tx)).toBe(receipt.receipt_id)
    }
  })
})

describe('the signature of a receipt', () => {
  it('RCPT-08 GET …/verify reports a valid receipt with everything needed to repeat the check', async () => {
    const { status, body } = await shop.send<{ signed_message_hex: string }>(
      'GET',
      `/v1/receipts/${primary.receipt_id}/verify`,
    )
    const { receipt_signer_pubkey, receipt_sig } = primary.receipt
    expect(status).toBe(200)
    expect(body).toEqual({
      receipt_id: primary.receipt_id,
      valid: true,
      checks: { receipt_exists: true, signature_valid: true, receipt_id_matches: true },
      signer_pubkey: receipt_signer_pubkey,
      key_id: `ed25519:${receipt_signer_pubkey.slice(0, 16)}`,
      signed_message_hex: expect.stringMatching(/^5356435f524543454950545f563100[0-9a-f]{64}$/),
      receipt: primary.receipt,
    })
    const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)!
    expect(key.verify(fromHex(body.signed_message_hex)!, fromHex(receipt_sig)!)).toBe(true)
  })

  it.each([
    ['paid_raw', '1', { receipt_exists: true, signature_valid: false, receipt_id_matches: true }],
    ['pay_req_id', 'pr_other', { receipt_exists: true, signature_valid: false, receipt_id_matches: false }],
  ])('RCPT-08 GET …/verify detects a changed %s in a stored receipt', async (field, value, checks) => {
    expect(await verified({ ...evm.receipt, [field]: value })).toMatchObject({ valid: false, checks })
  })

  it('RCPT-08 T-38 GET …/verify does not trust a key because the receipt names it', async () => {
    const forger = ed25519Signer(new Uint8Array(32).fill(66))
    const forged = signReceipt({ ...evm.receipt, payer_pubkey: 'another payer' }, forger)
    const checks = { receipt_exists: true, signature_valid: false, receipt_id_matches: true }
    expect(await verified(forged)).toMatchObject({ valid: false, checks, signer_pubkey: toHex(forger.publicKey) })
  })

  /** The answer for the EVM receipt while this one is stored in its place. */
  async function verified(stored: object): Promise<unknown> {
    const { db } = shop.gateway.context.database
    const store = (receipt: object) =>
      writable(db)
        .updateTable('receipts')
        .set({ receipt: JSON.stringify(receipt) })
        .where('receipt_id', '=', evm.receipt_id)
        .execute()
    await store(stored)
    const { body } = await shop.send('GET', `/v1/receipts/${evm.receipt_id}/verify`)
    await store(evm.receipt)
    return body
  }
})
