import { randomBytes } from 'node:crypto'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { amountText } from '@svc/sdk/money'
import { describe, expect, it } from 'vitest'
import { codeOf, textOf } from './client.ts'
import { useShop } from './shop.ts'

const shop = useShop()

let count = 0
/** The settings of a server that has spent nothing yet. */
const fresh = (variables: Record<string, string> = {}) => ({
  SVC_GATEWAY: shop.market.proxy.url,
  SVC_MCP_STATE: `${shop.desk.folder}/state-${++count}`,
  ...variables,
})
const start = (variables?: Record<string, string>) => shop.start('memory', 'solana', fresh(variables))
const usdc = () => shop.market.treasury('USDC')

/** The leg at a hundred times the price, in both amounts. */
function dearer({ amount, extra, ...leg }: PaymentLeg): PaymentLeg {
  const more = `${amount}00`
  return { ...leg, amount: more, extra: { ...extra, human_amount: amountText(BigInt(more), extra.decimals) } }
}

describe('the spending limits', () => {
  it('reject a purchase above the purchase limit with the reason, and nothing is paid', async () => {
    const server = await start({ SVC_MCP_MAX_USD: '0.20' })
    const before = await usdc()
    const result = await server.ask('buy', { units: 1 })
    expect(codeOf(result)).toBe('over_purchase_limit')
    expect(textOf(result)).toMatch(/\$0\.25; the limit for one purchase is \$0\.20 .*Nothing was paid/)
    expect(await usdc()).toBe(before)
  })

  it('apply per day across all processes', { tags: ['nightly'] }, async () => {
    const variables = fresh({ SVC_MCP_MAX_USD_PER_DAY: '0.60' })
    const [first, second] = [
      await shop.start('memory', 'solana', variables),
      await shop.start('http', 'solana', variables),
    ]
    await first.call('buy', { units: 1, intent: 'a' })
    await second.call('buy', { units: 1, intent: 'b' })
    const before = await usdc()
    for (const server of [first, second])
      expect(codeOf(await server.ask('buy', { units: 1, intent: 'c' }))).toBe('over_day_limit')
    expect(await first.call('buy', { units: 1, intent: 'b' })).toMatchObject({ new_payment: false })
    expect(await usdc()).toBe(before)
  })

  it('allow coins only with a configured price', async () => {
    const without = await start()
    const order = { units: 1, asset: 'SOL', intent: 'with coins' }
    expect(codeOf(await without.ask('buy', order))).toBe('asset_not_allowed')
    const before = await shop.market.treasury('SOL')
    const dear = await start({ SVC_MCP_USD_PER_SOL: '100000' })
    expect(codeOf(await dear.ask('buy', order))).toBe('over_purchase_limit')
    expect(await shop.market.treasury('SOL')).toBe(before)
    const fair = await start({ SVC_MCP_USD_PER_SOL: '150' })
    expect(await fair.call('buy', order)).toMatchObject({ paid: { asset: 'SOL' } })
    expect((await shop.market.treasury('SOL')) > before).toBe(true)
  })

  it('accept the asset in any case, and list the accepted assets when it is unknown', async () => {
    const server = await start()
    const order = { units: 1, intent: 'in lower case' }
    expect(await server.call('buy', { ...order, asset: 'usdc' })).toMatchObject({ paid: { asset: 'USDC' } })
    expect(await server.call('buy', { ...order, asset: 'USDC' })).toMatchObject({ new_payment: false })
    for (const asset of ['doge', 'MON']) {
      const refused = await server.ask('buy', { units: 1, asset, intent: `in ${asset}` })
      expect(codeOf(refused)).toBe('not_paid')
      expect(textOf(refused)).toMatch(
        new RegExp(`with a solana key in ${asset.toUpperCase()}; it accepts .*USDC.*Nothing was paid`),
      )
    }
  })

  it('T-46 count what the network may charge, which `quote` shows', { tags: ['nightly'] }, async () => {
    const priced = (usd: string) => shop.start('memory', 'evm', fresh({ SVC_MCP_USD_PER_MON: usd }))
    const fair = await priced('0.03')
    const { network_fee } = await fair.call('quote', { units: 1 })
    expect(network_fee).toEqual({ asset: 'MON', at_most: expect.stringMatching(/^0\.0*[1-9]\d*$/) })
    await fair.call('buy', { units: 1, intent: 'with a fee' })
    const { purchases } = (await fair.call('purchase_status')) as { purchases: { usd: string }[] }
    expect(Number(purchases[0]!.usd)).toBeGreaterThan(0.25)
    const before = await shop.market.treasury('USDC')
    const dear = await priced('100000000')
    const refused = await dear.ask('buy', { units: 1, intent: 'with a dear fee' })
    expect(codeOf(refused)).toBe('over_purchase_limit')
    expect(textOf(refused)).toMatch(/costs 0\.25 USDC and at most [\d.]+ MON for the network, counted as/)
    expect(await shop.market.treasury('USDC')).toBe(before)
  })

  it('apply even if the gateway raises the price or swaps the token', async () => {
    const { proxy } = shop.market
    const server = await start()
    const codeWith = async (change: (leg: PaymentLeg) => PaymentLeg) => {
      proxy.behave()
      proxy.always(/storage\/request/, {
        lie: ({ accepts, ...quote }: Quote) => ({ ...quote, accepts: accepts.map(change) }),
      })
      return codeOf(await server.ask('buy', { units: 1 }))
    }
    const before = await usdc()
    expect(await codeWith(dearer)).toBe('over_purchase_limit')
    const otherToken = '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'
    expect(await codeWith((leg) => ({ ...leg, asset: otherToken }))).toBe('untrue_answer')
    expect(await usdc()).toBe(before)
  })
})

describe('the day in a default intent', () => {
  it('starts a new purchase on the next day, but not for a repeated call shortly after midnight', async () => {
    const day = 86_400_000
    const midnight = Math.floor(Date.now() / day) * day
    let now = midnight - 60_000
    const server = await shop.start('memory', 'solana', fresh(), () => now)
    const order = { units: 1, provider: 'storj' }
    const first = await server.call('buy', order)
    expect(first.intent).toContain(new Date(now).toISOString().slice(0, 10))
    now = midnight + 60_000
    expect(await server.call('buy', order)).toMatchObject({ new_payment: false, intent: first.intent })
    now = midnight + day + 60_000
    expect(await server.call('buy', order)).toMatchObject({ new_payment: true })
  })
})

describe('a purchase', () => {
  it('does not count against the limits if it fails before money moves', async () => {
    const SVC_WALLET = await shop.desk.keyFile('poor.hex', randomBytes(32).toString('hex'))
    const server = await shop.start('memory', 'evm', fresh({ SVC_WALLET }))
    const result = await server.ask('buy', { units: 1 })
    expect(codeOf(result)).toBe('not_paid')
    expect(textOf(result)).toMatch(/needs 0\.25 USDC, holds 0: 0\.25 USDC is missing\. Nothing was paid/)
    expect(await server.call('purchase_status')).toMatchObject({ purchases: [] })
  })

  it('reports a failure after money moved, and the same intent resumes it without paying', async () => {
    const { proxy } = shop.market
    const server = await start()
    const gone = { status: 404, body: { error: 'pay_req_not_found', message: 'gone', request_id: 'r' } }
    // The first confirmation only checks for an earlier payment.
    proxy.plan(/storage\/confirm/, { lie: (answer) => answer }, { answer: gone })
    const before = await usdc()
    const order = { units: 1, intent: 'cut short' }
    const failed = await server.ask('buy', order)
    expect(codeOf(failed)).toBe('paid_but_unfinished')
    expect(textOf(failed)).toContain('SAME intent')
    const paid = (await usdc()) - before
    expect(paid).toBe(250_000n)
    const status = () => server.call('purchase_status', { intent: order.intent })
    expect(await status()).toMatchObject({ state: 'receipt_missing', receipt_id: null })
    expect(await server.call('buy', order)).toMatchObject({ new_payment: false })
    expect((await usdc()) - before).toBe(paid)
    expect(await status()).toMatchObject({ state: 'complete' })
  })
})

describe('a renewal', () => {
  it('ADD-17 PAY-52 extends the locker, pays once for an intent, and is within the limits of purchases', async () => {
    const server = await start({ SVC_MCP_MAX_USD_PER_DAY: '0.60' })
    const { receipt_id, locker_id } = await server.call('buy', { units: 1, intent: 'to be renewed' })
    const before = await usdc()
    const first = await server.call('renew_locker', { receipt_id })
    expect(first).toMatchObject({ new_payment: true, receipt_id, locker_id, paid: { amount: '0.25' } })
    expect(Date.parse(first.expires_at as string)).toBeGreaterThan(Date.now() + 700 * 86_400_000)
    expect(await server.call('renew_locker', { receipt_id })).toMatchObject({ new_payment: false })
    expect((await usdc()) - before).toBe(250_000n)
    const status = await server.call('purchase_status', { intent: first.intent })
    expect(status).toMatchObject({ state: 'complete', receipt_id, locker_id })
    expect(codeOf(await server.ask('renew_locker', { receipt_id, intent: 'third' }))).toBe('over_day_limit')
    expect(codeOf(await server.ask('renew_locker', { receipt_id, units: 1000 }))).toBe('over_purchase_limit')
    const renewal = first.renewal_receipt_id
    expect(codeOf(await server.ask('renew_locker', { receipt_id: renewal, units: 1 }))).toBe('receipt_is_renewal')
    expect((await usdc()) - before).toBe(250_000n)
  })
})
