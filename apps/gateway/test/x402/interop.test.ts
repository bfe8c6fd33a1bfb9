import type { Confirmation, Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { payLeg } from '@svc/devnet/pay-leg'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { parsePaymentRequired } from '@x402/core/schemas'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  FAMILIES,
  legOn,
  post,
  signFor,
  startX402Testbed,
  WALLETS,
  walletOn,
  type X402Testbed,
} from './x402-testbed.ts'

let testbed: X402Testbed
beforeAll(async () => {
  testbed = await startX402Testbed()
})
afterAll(() => testbed.stop())

const ORIGIN = { origin: 'https://page.example' }

async function ask(path: string, headers: Record<string, string> = {}) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{"units":1}' }
  const response = await fetch(testbed.url + path, init)
  return { headers: response.headers, body: (await response.json()) as Quote }
}

function asInBody({ extra, ...leg }: PaymentRequired['accepts'][number]) {
  return { ...leg, extra: expect.objectContaining(extra) }
}

function readAsStockClient(headers: Headers): PaymentRequired {
  return new x402HTTPClient(new x402Client()).getPaymentRequiredResponse((name) => headers.get(name))
}

describe.each([
  ['/v1/storage/request', ['SOL', 'USDC', 'USDC'], 9],
  ['/v1/x402/storage', ['USDC', 'USDC', 'USDT'], 3],
])('the quote of %s', (path, names, legs) => {
  it('ADD-01 a stock client reads legs of both chains from the header, as the body has them', async () => {
    const { headers, body } = await ask(path)
    const required = readAsStockClient(headers)
    expect(body.accepts).toHaveLength(legs)
    expect(required.accepts.map(({ extra }) => extra.name)).toEqual(names)
    expect(new Set(required.accepts.map(({ network }) => network)).size).toBe(2)
    for (const leg of required.accepts) expect(body.accepts).toContainEqual(expect.objectContaining(asInBody(leg)))
    expect(required.extensions).toMatchObject({ svc: { info: body.extensions.svc.info } })
    const checked = parsePaymentRequired(required)
    expect(checked.data).toEqual(required)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('ADD-09 the quote can be read by a web page', async () => {
    const { headers } = await ask(path, ORIGIN)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    const exposed = headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toEqual(expect.arrayContaining(['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'Retry-After']))
  })

  it('ADD-09 a web page may send what stock clients send', async () => {
    const wanted = ['content-type', 'idempotency-key', 'x402-tx', 'payment-signature', 'access-control-expose-headers']
    const preflight = { ...ORIGIN, 'access-control-request-method': 'POST' }
    const headers = { ...preflight, 'access-control-request-headers': wanted.join(',') }
    const response = await fetch(testbed.url + path, { method: 'OPTIONS', headers })
    expect(response.status).toBe(204)
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(wanted))
  })
})

it.each(FAMILIES)('ADD-01 what a stock client signs for the %s chain fits into a header', async (family) => {
  const { text } = await signFor(await walletOn(family, testbed.chains), testbed.url)
  expect(text.length).toBeLessThan(4096)
})

it('ADD-09 the answer to a signature can be read by a web page, good or bad', async () => {
  const { text } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
  for (const signature of [text, 'garbage']) {
    const { headers } = await post(testbed.url, { units: 1 }, { ...ORIGIN, 'payment-signature': signature })
    expect(headers.get('access-control-expose-headers')).toContain('PAYMENT-RESPONSE')
  }
})

describe('the quote of /v1/storage/request and clients that only sign', () => {
  const PLAIN = '/v1/storage/request'
  const clients = {
    'the primary chain': () => walletOn('primary', testbed.chains),
    'the EVM chain': () => walletOn('evm', testbed.chains),
    'both chains': async () => {
      const client = await walletOn('primary', testbed.chains)
      return client.register('eip155:143', new ExactEvmScheme(privateKeyToAccount(DEV_PAYERS[1]!.privateKey)))
    },
  }

  it.each(Object.entries(clients))(
    'ADD-21 a stock client with a wallet on %s signs for no leg',
    async (_name, open) => {
      const client = (await open()).setSpendControls(false)
      const asked: Headers[] = []
      const watched = (input: string | URL | Request, init?: RequestInit) => {
        const request = new Request(input, init)
        asked.push(request.headers)
        return fetch(request)
      }
      const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }
      const buying = wrapFetchWithPayment(watched, client)(testbed.url + PLAIN, order)
      await expect(buying).rejects.toThrow('Failed to create payment payload')
      expect(asked.map((headers) => headers.get('payment-signature'))).toEqual([null])
      const required = readAsStockClient((await ask(PLAIN)).headers)
      for (const leg of required.accepts)
        await expect(
          client.createPaymentPayload({ ...required, accepts: [leg] }),
          leg.extra.name as string,
        ).rejects.toThrow()
    },
  )

  it('ADD-21 the quote names the x402 endpoint in its body and its header', async () => {
    const { headers, body } = await ask(PLAIN)
    const { x402_url } = body.extensions.svc.info
    expect(x402_url).toMatch(/\/v1\/x402\/storage$/)
    expect(readAsStockClient(headers).extensions).toMatchObject({ svc: { info: { x402_url } } })
    expect(body.extensions.svc.instructions.steps.at(-1)).toContain(x402_url)
  })

  it.each(['PAYMENT-SIGNATURE', 'X-PAYMENT'])(
    'ADD-21 %s is answered with a pointer, and changes nothing',
    async (name) => {
      const { text } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
      const { db } = testbed.gateway.context.database
      const quotes = () => db.selectFrom('pay_requests').select('pay_req_id').orderBy('pay_req_id').execute()
      const before = await quotes()
      const headers = { 'content-type': 'application/json', [name]: text }
      const response = await fetch(testbed.url + PLAIN, { method: 'POST', headers, body: '{"units":1}' })
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
    const quote = paymentRequired as unknown as Quote // as the schema of the quote declares it
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

describe('a stock client with a hook on payment-required', () => {
  it.each(FAMILIES)(
    'ADD-01 a stock client with a hook pays on the %s chain itself, confirms with X402-TX and gets its receipt',
    async (family) => {
      const buy = payingFetch((accepts) => legOn(family, { accepts } as never) as PaymentLeg)
      const headers = { 'content-type': 'application/json' }
      const response = await buy(`${testbed.url}/v1/storage/request`, { method: 'POST', headers, body: '{"units":2}' })
      const body = (await response.json()) as Confirmation
      expect(response.status, JSON.stringify(body)).toBe(200)
      expect(body.receipt).toMatchObject({ units: 2, payer_pubkey: WALLETS[family] })
    },
  )
})
