import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { x402Client } from '@x402/core/client'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { codeOf } from './client.ts'
import { useShop } from './shop.ts'

const shop = useShop()
const server = forAllTests(() => shop.start('memory', null))

const account = privateKeyToAccount(DEV_PAYERS[1]!.privateKey)
const payer = new x402Client().register('eip155:143', new ExactEvmScheme(account))

it('PAY-51 without a wallet, buy answers with an x402 offer and pays nothing', async () => {
  const before = await shop.market.treasury('USDC on EVM')
  const result = await server.ask('buy', { units: 1 })
  expect(result.isError).toBe(true)
  expect(result.structuredContent).toMatchObject({ x402Version: 2, accepts: expect.any(Array) })
  expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(result.structuredContent) }])
  expect(await shop.market.treasury('USDC on EVM')).toBe(before)
})

it('a stock x402 client signs the offer, sends it with the call and gets a receipt, the same one for a repeated call', async () => {
  const { structuredContent } = await server.ask('buy', { units: 1 })
  const payment = await payer.createPaymentPayload(structuredContent as unknown as PaymentRequired)
  const before = await shop.market.treasury('USDC on EVM')
  const paid = await server.ask('buy', { units: 1 }, { 'x402/payment': payment })
  const bought = paid.structuredContent as Record<string, unknown>
  const locker_id = expect.stringMatching(/^locker_/)
  expect(bought).toMatchObject({ new_payment: true, locker_id, payer: account.address.toLowerCase() })
  expect(paid._meta?.['x402/payment-response']).toMatchObject({ success: true, transaction: bought.tx })
  expect((await shop.market.treasury('USDC on EVM')) - before).toBe(250_000n)
  const again = await server.call('buy', { units: 1 }, { 'x402/payment': payment })
  expect(again).toEqual({ ...bought, new_payment: false })
  expect((await shop.market.treasury('USDC on EVM')) - before).toBe(250_000n)
  expect(await server.call('verify', { receipt_id: bought.receipt_id })).toMatchObject({ statement: null, failed: [] })
})

it('a server with a wallet does not use it when the client brings a payment', async () => {
  const rich = await shop.start('memory', 'solana')
  const { structuredContent } = await server.ask('buy', { units: 1 })
  const payment = await payer.createPaymentPayload(structuredContent as unknown as PaymentRequired)
  const before = await shop.market.treasury('USDC')
  const bought = await rich.call('buy', { units: 1 }, { 'x402/payment': payment })
  expect(bought).toMatchObject({ new_payment: true, payer: account.address.toLowerCase() })
  expect(await shop.market.treasury('USDC')).toBe(before)
})

it('an invalid payment is rejected', async () => {
  for (const payment of ['paid', null, { x402Version: 2 }]) {
    const result = await server.ask('buy', { units: 1 }, { 'x402/payment': payment })
    expect(result.isError, JSON.stringify(payment)).toBe(true)
    expect(['bad_arguments', 'malformed_payment', 'payment_verification_failed']).toContain(codeOf(result))
  }
})

it.each(['list_files', 'attest', 'purchase_status'])('%s, which needs a key, fails with no_wallet', async (name) => {
  const input = name === 'purchase_status' ? {} : { receipt_id: `rcpt_${'0'.repeat(32)}` }
  expect(codeOf(await server.ask(name, input))).toBe('no_wallet')
})
