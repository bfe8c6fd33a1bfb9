// Money in, receipt out, on both chains, as a buyer with a wallet does it; and nothing forgotten over a restart.

import { payLeg } from '@svc/devnet/pay-leg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPlace, npmStart, type Place, type Started } from './npm-start.ts'

interface Leg {
  network: string
  amount: string
  asset: string
  payTo: string
  extra: { name: string; decimals: number; pay_req_id: string }
}

let place: Place
let started: Started
beforeAll(async () => {
  place = await findPlace()
  started = await npmStart(place)
})
afterAll(async () => {
  await started.interrupt()
  await place.leave()
})

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(place.gateway + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

const wallet = () => ({ primary: { url: place.primaryChain }, evm: { url: place.evmChain } })

async function buy(asset: string, network: string) {
  const quote = await post('/v1/storage/request', { units: 1, pay_network: network, pay_asset: asset })
  expect(quote.status).toBe(402)
  const leg = (quote.body as { accepts: Leg[] }).accepts[0] as Leg
  const tx = await payLeg(wallet(), leg)
  const confirm = () => post('/v1/storage/confirm', { pay_req_id: leg.extra.pay_req_id }, { 'x402-tx': tx })
  // As clients do: not visible yet is no failure, and nobody pays again.
  await expect.poll(async () => (await confirm()).status, { timeout: 60_000, interval: 500 }).toBe(200)
  return confirm()
}

describe('buying', () => {
  it.each([
    ['SOL', 'primary-mainnet'],
    ['USDC', 'primary-mainnet'],
    ['MON', 'evm-mainnet'],
    ['USDC', 'evm-mainnet'],
  ])('GEN-09 STATE-02 PAY-51 PAY-53 %s on %s: quote, pay, confirm, read the receipt', async (asset, network) => {
    const { body } = await buy(asset, network)
    expect(body).toMatchObject({ ok: true, idempotent: true, pay_asset: asset, network })
    const receipt = await (await fetch(`${place.gateway}/v1/receipts/${body.receipt_id}`)).json()
    expect(receipt).toEqual(body.receipt)
  })

  it('PAY-56 PAY-52 a receipt and its payment outlive a restart of everything', async () => {
    const { body } = await buy('USDT', 'primary-mainnet')
    await started.interrupt()
    started = await npmStart(place)
    const read = async (path: string) => (await fetch(`${place.gateway}/v1/receipts/${body.receipt_id}${path}`)).json()
    expect(await read('')).toEqual(body.receipt)
    expect(await read('/verify')).toMatchObject({ valid: true })
    expect(await read('/verify-payment')).toMatchObject({ verified: true })
  })
})
