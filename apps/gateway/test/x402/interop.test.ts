import type { Confirmation, Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { payLeg } from '@svc/devnet/pay-leg'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { parsePaymentRequired } from '@x402/core/schemas'
import type { PaymentRequired } from '@x402/core/types'
import { wrapFetchWithPayment } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAMILIES, legOn, openX402Shop, post, signFor, WALLETS, walletOn, type X402Shop } from './x402-gateway.ts'

let shop: X402Shop
beforeAll(async () => {
  shop = await openX402Shop()
})
afterAll(() => shop.stop())

const ORIGIN = { origin: 'https://page.example' }

async function ask(path: string, headers: Record<string, string> = {}) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{"units":1}' }
  const response = await fetch(shop.url + path, init)
  return { headers: response.headers, body: (await response.json()) as Quote }
}

function readAsStockClient(headers: Headers): PaymentRequired {
  return new x402HTTPClient(new x402Client()).getPaymentRequiredResponse((name) => headers.get(name))
}

describe.each([
  ['/v1/storage/request', 9],
  ['/v1/x402/storage', 3],
])('the quote of %s', (path, legs) => {
  it('ADD-01 reaches a stock client by the header, every leg whole', async () => {
    const { headers, body } = await ask(path)
    const required = readAsStockClient(headers)
    expect(required.accepts).toEqual(body.accepts)
    expect(required.accepts).toHaveLength(legs)
    expect(required.extensions).toEqual({ svc: { info: body.extensions.svc.info } })
    const checked = parsePaymentRequired(required)
    expect(checked.data).toEqual(required)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('ADD-09 can be read by a web page', async () => {
    const { headers } = await ask(path, ORIGIN)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const exposed = headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toEqual(expect.arrayContaining(['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'Retry-After']))
  })

  it('ADD-09 a web page may send what stock clients send', async () => {
    const wanted = ['content-type', 'idempotency-key', 'x402-tx', 'payment-signature', 'access-control-expose-headers']
    const preflight = { ...ORIGIN, 'access-control-request-method': 'POST' }
    const headers = { ...preflight, 'access-control-request-headers': wanted.join(',') }
    const response = await fetch(shop.url + path, { method: 'OPTIONS', headers })
    expect(response.status).toBe(204)
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(wanted))
  })
})

it.each(FAMILIES)('ADD-01 what a stock client signs for the %s chain fits into a header', async (family) => {
  const { text } = await signFor(await walletOn(family, shop.chains), shop.url)
  expect(text.length).toBeLessThan(4096)
})

it('ADD-09 the answer to a signature can be read by a web page, good or bad', async () => {
  const { text } = await signFor(await walletOn('evm', shop.chains), shop.url)
  for (const signature of [text, 'garbage']) {
    const { headers } = await post(shop.url, { units: 1 }, { ...ORIGIN, 'payment-signature': signature })
    expect(headers.get('access-control-expose-headers')).toContain('PAYMENT-RESPONSE')
  }
})

/** A stock client whose hook pays by itself. What it then repeats with X402-TX goes where the quote says. */
function payingFetch(choose: (legs: PaymentLeg[]) => PaymentLeg) {
  let info: Quote['extensions']['svc']['info']
  let leg: PaymentLeg
  const client = new x402HTTPClient(new x402Client()).onPaymentRequired(async ({ paymentRequired }) => {
    const quote = paymentRequired as unknown as Quote // as the schema of the quote declares it
    info = quote.extensions.svc.info
    leg = choose(quote.accepts)
    return { headers: { [info.confirm_header]: await payLeg(shop.chains, leg, { payer: 1 }) } }
  })
  const send = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    if (!request.headers.has('x402-tx')) return fetch(request)
    const body = { pay_req_id: info.pay_req_id, pay_network: leg.network, pay_asset: leg.extra.name }
    return fetch(info.confirm_url, { method: 'POST', headers: request.headers, body: JSON.stringify(body) })
  }
  return wrapFetchWithPayment(send, client)
}

describe('a stock client with a hook on payment-required', () => {
  it.each(FAMILIES)('ADD-01 pays on the %s chain itself, confirms with X402-TX and has its receipt', async (family) => {
    const buy = payingFetch((accepts) => legOn(family, { accepts } as never) as PaymentLeg)
    const headers = { 'content-type': 'application/json' }
    const response = await buy(`${shop.url}/v1/storage/request`, { method: 'POST', headers, body: '{"units":2}' })
    const body = (await response.json()) as Confirmation
    expect(response.status, JSON.stringify(body)).toBe(200)
    expect(body.receipt).toMatchObject({ units: 2, payer_pubkey: WALLETS[family] })
  })
})
