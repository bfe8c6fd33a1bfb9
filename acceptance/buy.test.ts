// Buying storage with a wallet on both chains; receipts survive a restart.

import { payLeg } from '@svc/devnet/pay-leg'
import { describe, expect, it } from 'vitest'
import { useNpmStart } from './npm-start.ts'

interface Leg {
  network: string
  amount: string
  asset: string
  payTo: string
  extra: { name: string; decimals: number; pay_req_id: string }
}

const service = useNpmStart()

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(service.gateway + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

const wallet = () => ({ primary: { url: service.primaryChain }, evm: { url: service.evmChain } })

async function buy(asset: string, network: string) {
  const quote = await post('/v1/storage/request', { units: 1, pay_network: network, pay_asset: asset })
  expect(quote.status).toBe(402)
  const leg = (quote.body as { accepts: Leg[] }).accepts[0] as Leg
  const tx = await payLeg(wallet(), leg)
  const confirm = () => post('/v1/storage/confirm', { pay_req_id: leg.extra.pay_req_id }, { 'x402-tx': tx })
  // Like a client: a payment that is not visible yet is confirmed again, never paid again.
  await expect.poll(async () => (await confirm()).status, { interval: 500 }).toBe(200)
  return confirm()
}

describe('buying', () => {
  it.each([
    ['SOL', 'primary-mainnet'],
    ['USDC', 'primary-mainnet'],
    ['MON', 'evm-mainnet'],
    ['USDC', 'evm-mainnet'],
  ])('GEN-09 PAY-53 %s on %s buys a locker: quote, payment, confirmation, receipt', async (asset, network) => {
    const { body } = await buy(asset, network)
    expect(body).toMatchObject({ ok: true, idempotent: true, pay_asset: asset, network })
    const receipt = await (await fetch(`${service.gateway}/v1/receipts/${body.receipt_id}`)).json()
    expect(receipt).toEqual(body.receipt)
  })

  it('PAY-56 PAY-52 a receipt and its payment can be verified after a restart', { tags: ['nightly'] }, async () => {
    const { body } = await buy('USDT', 'primary-mainnet')
    await service.restart()
    const read = async (path: string) =>
      (await fetch(`${service.gateway}/v1/receipts/${body.receipt_id}${path}`)).json()
    expect(await read('')).toEqual(body.receipt)
    expect(await read('/verify')).toMatchObject({ valid: true })
    expect(await read('/verify-payment')).toMatchObject({ verified: true })
  })
})
