// Calls that a client cancels while they run (notifications/cancelled).

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { useShop } from './shop.ts'

const shop = useShop()
const node = forAllTests(() => startFaultyProxy(shop.market.chains.primary.url))
const server = forAllTests(() =>
  shop.start('memory', 'solana', { SVC_GATEWAY: shop.market.proxy.url, SVC_PRIMARY_RPC: node.url }),
)

const requests = () => shop.market.proxy.seen.length + node.seen.length

/** Cancels a call at its first request that matches the pattern; returns the outcome that the server logs. */
async function cancelAt(pattern: RegExp, name: string, input: object): Promise<string> {
  const controller = new AbortController()
  const before = server.log()
  for (const proxy of [shop.market.proxy, node])
    proxy.always(pattern, () => {
      controller.abort('cancelled by the user')
      return { stall: 'request' }
    })
  const call = server.client.callTool({ name, arguments: { ...input } }, undefined, { signal: controller.signal })
  await expect(call).rejects.toThrow('cancelled by the user')
  const ended = () => new RegExp(`svc-mcp: ${name}: (\\S+)\n$`).exec(server.log().slice(before.length))?.[1]
  await expect.poll(ended).toBeDefined()
  shop.market.proxy.behave()
  node.behave()
  return ended()!
}

describe('a purchase', () => {
  it.each([
    ['while it asks for a quote', /storage\/request/],
    ['while it checks for an earlier payment', /storage\/confirm/],
    ['while it reads the balance', /getTokenAccountBalance/],
    ['while it signs the payment', /getLatestBlockhash/],
    ['after it signs and before it records the payment', /simulateTransaction/],
  ])('T-01 cancelled %s leaves no trace, and the same call buys', async (_, pattern) => {
    const before = await shop.market.treasury('USDC')
    const intent = `cancelled at ${pattern.source}`
    expect(await cancelAt(pattern, 'buy', { units: 1, intent })).toMatch(/^(cancelled|not_paid)$/)
    const after = requests()
    expect(await server.call('purchase_status', { intent })).toMatchObject({ state: 'unknown', payments: [] })
    expect((await server.call('purchase_status')).purchases).not.toContainEqual(expect.objectContaining({ intent }))
    expect(requests()).toBe(after)
    expect(await server.call('buy', { units: 1, intent })).toMatchObject({ new_payment: true, intent })
    expect((await shop.market.treasury('USDC')) - before).toBe(250_000n)
  })

  it.each([
    ['while it sends the payment', /sendTransaction/, 'payment_uncertain'],
    ['while it opens the locker', /signed_provision/, 'paid_but_unfinished'],
  ])('T-01 cancelled %s is resumed by the same call and paid once', async (_, pattern, code) => {
    const before = await shop.market.treasury('USDC')
    const order = { units: 1, intent: `cancelled at ${pattern.source}` }
    expect(await cancelAt(pattern, 'buy', order)).toBe(code)
    const { purchases } = await server.call('purchase_status')
    expect(purchases).toContainEqual(expect.objectContaining({ intent: order.intent, usd: '0.25' }))
    expect(await server.call('buy', order)).toMatchObject({ new_payment: false })
    expect((await shop.market.treasury('USDC')) - before).toBe(250_000n)
  })

  it('cancelled while it waits for another call with the same intent does not begin', async () => {
    const order = { units: 1, intent: 'one behind the other' }
    const controller = new AbortController()
    shop.market.proxy.plan(/storage\/request/, {
      lie(quote) {
        controller.abort('no more')
        return quote
      },
    })
    const first = server.call('buy', order)
    const second = server.client.callTool({ name: 'buy', arguments: order }, undefined, { signal: controller.signal })
    await expect(second).rejects.toThrow('no more')
    expect(await first).toMatchObject({ new_payment: true })
    await expect.poll(server.log).toMatch(/buy: done\nsvc-mcp: buy: cancelled\n$/)
  })
})

describe('an upload', () => {
  it('keeps the previous file when it is cancelled, and the same call completes it', {
    tags: ['nightly'],
  }, async () => {
    const receipt_id = await shop.locker()
    const large = randomBytes(9 * 1024 * 1024)
    await writeFile(join(shop.desk.root, 'small'), 'as it was')
    await writeFile(join(shop.desk.root, 'large'), large)
    const put = { receipt_id, filename: 'kept', path: 'large' }
    await server.call('put_file', { ...put, path: 'small' })
    for (const pattern of [/upload-sessions$/, /parts/, /finalize/])
      expect(await cancelAt(pattern, 'put_file', put), pattern.source).toBe('cancelled')
    const { public_url } = await server.call('get_link', { receipt_id, filename: 'kept', public: true })
    expect(await (await fetch(String(public_url))).text()).toBe('as it was')
    expect(await server.call('put_file', put)).toMatchObject({ stored: true, size_bytes: large.length })
    expect(Buffer.from(await (await fetch(String(public_url))).arrayBuffer()).equals(large)).toBe(true)
  })
})

describe('another call', () => {
  const receipt_id = `rcpt_${'0'.repeat(32)}`

  it.each([
    ['quote', { units: 1 }],
    ['list_files', { receipt_id }],
    ['get_link', { receipt_id, filename: 'x' }],
    ['attest', { receipt_id }],
    ['verify', { receipt_id }],
  ])('%s stops when it is cancelled', async (name, input) => {
    expect(await cancelAt(/v1|storage/, name, input)).toBe('cancelled')
  })
})
