import type { Confirmation, Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { payLeg } from '@svc/devnet/pay-leg'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { FAMILIES, legOn, signFor, startX402Testbed, WALLETS, walletOn } from './x402-testbed.ts'

const testbed = forAllTests(() => startX402Testbed())

const PLAIN = '/v1/storage/request'
const ORDER = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }

it.each(['/v1/storage/request', '/v1/x402/storage'])(
  'ADD-09 a web page may send the requests of stock clients to %s',
  async (path) => {
    const wanted = ['content-type', 'idempotency-key', 'x402-tx', 'payment-signature', 'access-control-expose-headers']
    const preflight = { origin: 'https://page.example', 'access-control-request-method': 'POST' }
    const headers = { ...preflight, 'access-control-request-headers': wanted.join(',') }
    const response = await fetch(testbed.url + path, { method: 'OPTIONS', headers })
    expect(response.status).toBe(204)
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(wanted))
  },
)

describe('the quote of /v1/storage/request and clients that only sign', () => {
  it('ADD-21 a stock client with wallets on both chains signs for no leg', async () => {
    const wallet = new ExactEvmScheme(privateKeyToAccount(DEV_PAYERS[1]!.privateKey))
    const client = (await walletOn('primary', testbed.chains)).register('eip155:143', wallet).setSpendControls(false)
    const asked: Headers[] = []
    const watched = (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init)
      asked.push(request.headers)
      return fetch(request)
    }
    const buying = wrapFetchWithPayment(watched, client)(testbed.url + PLAIN, ORDER)
    await expect(buying).rejects.toThrow('Failed to create payment payload')
    expect(asked.map((headers) => headers.get('payment-signature'))).toEqual([null])
  })

  it.each(['PAYMENT-SIGNATURE', 'X-PAYMENT'])(
    'ADD-21 %s is answered with a pointer to the other endpoint and changes nothing',
    async (name) => {
      const { text } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
      const { db } = testbed.gateway.context.database
      const quotes = () => db.selectFrom('pay_requests').select('pay_req_id').orderBy('pay_req_id').execute()
      const before = await quotes()
      const headers = { ...ORDER.headers, [name]: text }
      const response = await fetch(testbed.url + PLAIN, { ...ORDER, headers })
      const body = (await response.json()) as { details: { x402_url: string }; hint: string; message: string }
      expect([response.status, body]).toMatchObject([400, { error: 'signed_payment_not_taken' }])
      expect(body.message).toContain(name)
      expect(body.hint).toContain(body.details.x402_url)
      expect(response.headers.get('payment-required')).toBeNull()
      expect(await quotes()).toEqual(before)
    },
  )
})

/** A stock client with a hook that pays. Its repeated request with X402-TX goes to the `confirm_url` of the quote. */
function payingFetch(choose: (legs: PaymentLeg[]) => PaymentLeg) {
  let info: Quote['extensions']['svc']['info']
  let leg: PaymentLeg
  const client = new x402HTTPClient(new x402Client()).onPaymentRequired(async ({ paymentRequired }) => {
    const quote = paymentRequired as unknown as Quote // the schema of the quote declares this type
    info = quote.extensions.svc.info
    leg = choose(quote.accepts)
    return { headers: { [info.confirm_header]: await payLeg(testbed.chains, leg, { payer: 1 }) } }
  })
  const send = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    if (!request.headers.has('x402-tx')) return fetch(request)
    const body = { pay_req_id: info.pay_req_id, pay_network: leg.network, pay_asset: leg.extra.name }
    return fetch(info.confirm_url, { method: 'POST', headers: request.headers, body: JSON.stringify(body) })
  }
  return wrapFetchWithPayment(send, client)
}

it.each(FAMILIES)(
  'ADD-01 a stock client with a hook pays on the %s chain itself, confirms with X402-TX and gets its receipt',
  async (family) => {
    const buy = payingFetch((accepts) => legOn(family, { accepts } as never) as PaymentLeg)
    const response = await buy(testbed.url + PLAIN, { ...ORDER, body: '{"units":2}' })
    const body = (await response.json()) as Confirmation
    expect(response.status, JSON.stringify(body)).toBe(200)
    expect(body.receipt).toMatchObject({ units: 2, payer_pubkey: WALLETS[family] })
  },
)
