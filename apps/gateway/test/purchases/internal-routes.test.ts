import { ASSETS } from '@svc/api/assets'
import type { TreasurySummary } from '@svc/api/internal'
import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { TREASURY, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { buy, expectError, payReqId } from '@svc/devnet/services/market'
import type { Reply, TestGateway } from '@svc/devnet/services/test-gateway'
import { canonicalTx } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { describe, expect, it } from 'vitest'
import { OWNER, openSponsoredMarket, quotes } from './protocols/sponsored/sponsored-market.ts'

const tickersOf = (network: Network) => ASSETS.filter((one) => one.network === network).map(({ ticker }) => ticker)

const SECRET = 'an-internal-secret-of-some-length'

const sponsored = forAllTests(() => openSponsoredMarket())
const shop = forAllTests(() => sponsored.open())

async function summary(at: TestGateway = shop) {
  const { status, headers, body } = await at.send<TreasurySummary>('GET', '/v1/internal/treasury/summary')
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  const asset = (network: string, ticker: string) => {
    const found = body.networks.find((entry) => entry.network === network)?.assets.find(({ asset }) => asset === ticker)
    if (!found) throw new Error(`${ticker} on ${network} is missing`)
    return found
  }
  return { body, asset }
}

describe('the treasury summary', () => {
  it('INT-04 INT-02 the treasury summary lists every leg with the account that receives its payments', async () => {
    const { body } = await summary()
    expect(body.time).toBe('2026-09-01T12:00:00Z')
    const listed = body.networks.map(({ network, address, assets }) => [
      network,
      address,
      assets.map(({ asset }) => asset),
    ])
    expect(listed).toEqual([
      ['primary-mainnet', TREASURY.address, tickersOf(PRIMARY)],
      ['evm-mainnet', DEV_TREASURY.address, tickersOf(EVM)],
    ])
    const accounts = body.networks.flatMap(({ assets }) => assets.map(({ account }) => account))
    expect(accounts.slice(0, 2)).toEqual([TREASURY.address, await tokenAccountOf(TREASURY.address, 'USDC')])
    expect(new Set(accounts.slice(tickersOf(PRIMARY).length))).toEqual(new Set([DEV_TREASURY.address]))
  })

  it.each([
    ['primary-mainnet', 'USDT'],
    ['evm-mainnet', 'MON'],
  ])(
    'INT-04 the treasury summary of %s counts payments in %s, including overpayments, and receipts',
    async (pay_network, pay_asset) => {
      const before = await summary()
      const { receipt } = await buy(sponsored.market, shop, { units: 7, pay_network, pay_asset })
      const quote = await shop.quote({ units: 1, pay_network, pay_asset })
      const more = BigInt(quote.accepts[0]!.amount) + 5n
      await shop.confirm(
        { pay_req_id: payReqId(quote) },
        await sponsored.market.pay(quote.accepts[0]!, { amount: more }),
      )
      const after = await summary()
      const came = BigInt(receipt.paid_raw) + more
      const [was, is] = [before, after].map(({ asset }) => asset(pay_network, pay_asset))
      expect(is).toEqual({
        ...was,
        balance_raw: String(BigInt(was!.balance_raw!) + came),
        received_raw: String(BigInt(was!.received_raw) + came),
        receipts: was!.receipts + 2,
      })
      expect(after.body.receipts_total).toBe(before.body.receipts_total + 2)
    },
  )

  it('INT-04 T-01 the treasury summary counts the payment of a batch once, and each of its receipts', async () => {
    const before = (await summary()).asset('primary-mainnet', 'BETA')
    const { ids, sum } = await quotes(shop, 3, 'BETA')
    await shop.sponsorBatch({ pay_req_ids: ids, tx_sig: await sponsored.market.pay(sum), owner_identity: OWNER })
    expect((await summary()).asset('primary-mainnet', 'BETA')).toEqual({
      ...before,
      balance_raw: String(BigInt(before.balance_raw!) + 3n),
      received_raw: String(BigInt(before.received_raw) + 3n),
      receipts: before.receipts + 3,
    })
  })

  it('INT-05 the treasury summary omits only the balances of a chain that does not answer', async () => {
    const blind = await sponsored.market.open({ PRIMARY_RPC_URLS: 'http://127.0.0.1:1' })
    const { asset } = await summary(blind)
    const unknown = { balance_raw: null, error: 'chain_unavailable', received_raw: '0', receipts: 0 }
    expect(asset('primary-mainnet', 'SOL')).toMatchObject({ ...unknown, decimals: 9 })
    expect(asset('primary-mainnet', 'USDC')).toMatchObject(unknown)
    expect(asset('evm-mainnet', 'MON')).toEqual(expect.not.objectContaining({ error: expect.anything() }))
    await blind.close()
  })
})

describe('receipts by transaction', () => {
  const find = (tx: string, at: TestGateway = shop): Promise<Reply<{ receipts: SignedReceipt[] }>> =>
    at.send('GET', `/v1/internal/receipts?tx=${tx}`)

  it('T-33 T-02 an internal caller finds a receipt by its transaction, and an EVM hash in either letter case', async () => {
    const primary = await buy(sponsored.market, shop)
    expect((await find(primary.tx)).body).toEqual({ receipts: [primary.receipt] })
    const evm = await buy(sponsored.market, shop, { units: 1, pay_network: 'evm-mainnet' })
    const upper = `0X${evm.tx.slice(2).toUpperCase()}`
    for (const tx of [evm.tx, upper, upper.replace('X', 'x')]) {
      const { status, headers, body } = await find(tx)
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(body).toEqual({ receipts: [evm.receipt] })
    }
    expect(evm.receipt.tx_hash).toBe(canonicalTx(upper))
  })

  it('T-33 a transaction without a receipt is a 404, and a malformed transaction id a 422', async () => {
    expectError(await find(`0x${'ab'.repeat(32)}`), 404, 'receipt_not_found')
    for (const tx of ['', 'x', `0x${'ab'.repeat(31)}`, '%00', `${'3'.repeat(88)}!`])
      expectError(await find(tx), 422, 'validation_error')
    expectError(await shop.send('GET', '/v1/internal/receipts'), 422, 'validation_error')
  })
})

describe('internal callers', () => {
  const paths = ['/v1/internal/treasury/summary', `/v1/internal/receipts?tx=0x${'ab'.repeat(32)}`, '/metrics']

  it('INT-06 T-26 when INTERNAL_SECRET is set, only callers that send it are answered', async () => {
    const closed = await sponsored.market.open({ INTERNAL_SECRET: SECRET })
    const statuses = async (authorization?: string) => {
      const init = authorization === undefined ? {} : { headers: { authorization } }
      return Promise.all(paths.map(async (path) => (await fetch(closed.gateway.url + path, init)).status))
    }
    expect(await statuses(`Bearer ${SECRET}`)).toEqual([200, 404, 200])
    for (const header of [undefined, SECRET, `Bearer ${SECRET}x`, `Bearer ${sponsored.issuer.token()}`])
      expect(await statuses(header)).toEqual([401, 401, 401])
    for (const path of paths) expectError(await closed.send('GET', path), 401, 'INTERNAL_AUTH_REQUIRED')
    await closed.close()
  })
})
