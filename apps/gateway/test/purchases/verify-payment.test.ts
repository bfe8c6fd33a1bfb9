import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { startLocalChains } from '@svc/devnet/local-chains'
import { buy, expectError, openMarket, WITHOUT_EVM, WITHOUT_PRIMARY } from '@svc/devnet/services/market'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { receiptId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { describe, expect, it, onTestFinished } from 'vitest'

const market = forAllTests(() => openMarket())
const database = forAllTests(() => createFreshDatabase('sqlite'))
const shop = forAllTests(() => market.open({ DATABASE_URL: database.url }))
const primary = forAllTests(() => buy(market, shop, { units: 3 }))
const evm = forAllTests(() => buy(market, shop, { units: 3, pay_network: 'evm-mainnet', pay_asset: 'WETH' }))

function verify(receipt_id: string, seller = shop) {
  return seller.send('GET', `/v1/receipts/${receipt_id}/verify-payment`)
}

/** Runs a check while the stored receipt has these changes. */
async function withStored(receipt: SignedReceipt, changes: Partial<SignedReceipt>, check: () => Promise<void>) {
  const { db } = shop.gateway.context.database
  const store = (stored: SignedReceipt) =>
    writable(db)
      .updateTable('receipts')
      .set({ receipt: JSON.stringify(stored) })
      .where('receipt_id', '=', receipt.receipt_id)
      .execute()
  await store({ ...receipt, ...changes })
  await check()
  await store(receipt)
}

describe('GET /v1/receipts/{receipt_id}/verify-payment', () => {
  it('RCPT-09 GET …/verify-payment compares a receipt with the primary chain, field by field', async () => {
    const { status, headers, body } = await verify(primary.receipt_id)
    const { paid_raw, payer_pubkey, slot, network, tx_hash, receipt_id } = primary.receipt
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      receipt_id,
      network,
      tx_hash,
      verified: true,
      matches: { treasury_balance_rose: true, amount_sufficient: true, payer_matches: true, slot_matches: true },
      on_chain: { received_raw: paid_raw, payer: payer_pubkey, slot, block_time: 1_788_264_000 },
      receipt: { paid_raw, payer_pubkey, slot },
      checked_at: '2026-09-01T12:00:00Z',
    })
  })

  it('RCPT-09 GET …/verify-payment compares a receipt with the EVM chain, which has no slots', async () => {
    const { status, body } = await verify(evm.receipt_id)
    const { paid_raw, payer_pubkey, block_number } = evm.receipt
    expect(status).toBe(200)
    expect(body).toMatchObject({
      verified: true,
      on_chain: { received_raw: paid_raw, payer: payer_pubkey, block_number },
      receipt: { paid_raw, payer_pubkey, block_number },
    })
    expect(body).not.toHaveProperty('matches.slot_matches')
  })

  it.each([
    [{ paid_raw: '4991682' }, { amount_sufficient: false }],
    [{ payer_pubkey: 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8' }, { payer_matches: false }],
    [{ slot: 1 }, { slot_matches: false }],
  ])('RCPT-09 GET …/verify-payment reports the field that does not match: %j', async (changes, wrong) => {
    const good = { treasury_balance_rose: true, amount_sufficient: true, payer_matches: true, slot_matches: true }
    await withStored(primary.receipt, changes, async () => {
      const { status, body } = await verify(primary.receipt_id)
      expect(status).toBe(200)
      expect(body).toMatchObject({ verified: false, matches: { ...good, ...wrong } })
    })
  })

  it('RCPT-10 ERR-07 verifying the payment of a receipt without a transaction is a 400 with a hint', async () => {
    const { db } = shop.gateway.context.database
    const pay_req_id = `pr_${'1'.repeat(32)}`
    const receipt = { ...primary.receipt, receipt_id: receiptId(pay_req_id, ''), pay_req_id, tx_hash: '' }
    const { receipt_id, network, payer_pubkey: payer } = receipt
    const row = { receipt_id, pay_req_id, network, tx: '', payer, receipt: JSON.stringify(receipt) }
    await writable(db).insertInto('receipts').values(row).execute()
    const reply = await verify(receipt_id)
    expectError(reply, 400, 'receipt_has_no_tx_hash')
    expect(reply.body).toMatchObject({ hint: expect.any(String) })
  })

  it('RCPT-09 a receipt whose transaction cannot be read or whose quote is deleted gets a clear answer', async () => {
    for (const tx_hash of ['not a transaction', evm.receipt.tx_hash, '0x', `${primary.receipt.tx_hash}111`]) {
      await withStored(primary.receipt, { tx_hash }, async () => {
        const { status, body } = await verify(primary.receipt_id)
        expect([status, body]).toMatchObject([200, { verified: false, on_chain: { received_raw: '0', payer: null } }])
      })
    }
    await withStored(primary.receipt, { pay_req_id: `pr_${'2'.repeat(32)}` }, async () => {
      expect((await verify(primary.receipt_id)).body).toMatchObject({ verified: true })
    })
    for (const elsewhere of [{ network: 'moon-mainnet' }, { pay_req_id: 'pr_none', pay_asset: 'DOGE' }])
      await withStored(primary.receipt, elsewhere, async () =>
        expectError(await verify(primary.receipt_id), 503, 'chain_unavailable'),
      )
  })

  it('RCPT-12 ERR-27 verifying a transaction that the chain does not show is a 502 and keeps the receipt', async () => {
    const others = await startLocalChains()
    onTestFinished(() => others.stop())
    const { PRIMARY_RPC_URLS, EVM_RPC_URLS } = others.variables
    const elsewhere = await market.open({ DATABASE_URL: database.url, PRIMARY_RPC_URLS, EVM_RPC_URLS })
    for (const { receipt_id, receipt } of [primary, evm]) {
      expectError(await verify(receipt_id, elsewhere), 502, 'tx_not_found_on_chain')
      expect((await elsewhere.send('GET', `/v1/receipts/${receipt_id}`)).body).toEqual(receipt)
    }
    await elsewhere.close()
  })

  it('RCPT-09 verifying a payment is a 503 while the chain cannot be read or is no longer configured', async () => {
    const CLOSED = 'http://127.0.0.1:1'
    const blind = await market.open({ DATABASE_URL: database.url, PRIMARY_RPC_URLS: CLOSED, EVM_RPC_URLS: CLOSED })
    const evmGone = await market.open({ DATABASE_URL: database.url, ...WITHOUT_EVM })
    const primaryGone = await market.open({ DATABASE_URL: database.url, ...WITHOUT_PRIMARY })
    for (const { receipt_id } of [primary, evm]) expectError(await verify(receipt_id, blind), 503, 'chain_unavailable')
    expectError(await verify(evm.receipt_id, evmGone), 503, 'chain_unavailable')
    expectError(await verify(primary.receipt_id, primaryGone), 503, 'chain_unavailable')
    for (const seller of [blind, evmGone, primaryGone]) await seller.close()
  })

  it('PAY-30 a payment is verified against the treasury of its quote after the treasury changed', async () => {
    const moved = await market.open({
      DATABASE_URL: database.url,
      PRIMARY_TREASURY: 'CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8',
    })
    expect((await verify(primary.receipt_id, moved)).body).toMatchObject({ verified: true })
    await moved.close()
  })
})

it('RCPT-09 GET …/verify-payment reports that no node is configured, with and without the quote', async () => {
  const instance = await openTestGateway({ DATABASE_URL: database.url })
  onTestFinished(instance.close)
  expectError(await verify(primary.receipt_id, instance), 503, 'chain_unavailable')
  expectError(await verify(await instance.receipt(ed25519Identity()), instance), 503, 'chain_unavailable')
})
