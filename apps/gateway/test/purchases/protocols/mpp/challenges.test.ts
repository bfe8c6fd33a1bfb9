import type { Quote } from '@svc/api/purchases'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { forAllTests } from '@svc/devnet/for-tests'
import { TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { openMarket, payReqId } from '@svc/devnet/services/market'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import { validate } from 'mppx/discovery'
import { expect, it } from 'vitest'
import { challengesIn, PATH, payableWith } from './mpp-testbed.ts'

const market = forAllTests(() => openMarket())
const shop = forAllTests(() => market.open())

async function ask(headers: Record<string, string> = {}, order: object = { units: 1 }) {
  const reply = await shop.send<Quote>('POST', PATH, order, headers)
  return { quote: reply.body, headers: reply.headers, challenges: challengesIn(reply.headers) }
}

it('T-100 ADD-47 the quote has a challenge for each payment method', async () => {
  const { quote, challenges } = await ask()
  expect(challenges.map(({ method }) => method)).toEqual(['solana', 'evm'])
  for (const challenge of challenges) {
    expect(challenge).toMatchObject({
      realm: new URL(quote.resource.url).host,
      intent: 'charge',
      expires: quote.extensions.svc.info.expires_at,
      request: { externalId: quote.extensions.svc.payment_reference },
    })
  }
  expect(new Set(challenges.map(({ id }) => id)).size).toBe(challenges.length)
  const usdc = payableWith(challenges, TOKENS.USDC.address)
  expect(usdc.request.methodDetails).toEqual({ chainId: 143, credentialTypes: ['authorization', 'hash'], decimals: 6 })
  const { recipient, methodDetails } = payableWith(challenges, 'sol').request
  // A development gateway states that its chain is local.
  expect([recipient, methodDetails.network]).toEqual([TREASURY.address, 'localnet'])
})

it('T-100 ADD-47 a client that chooses a method or asset gets the challenges for it', async () => {
  const symbols = ({ challenges }: Awaited<ReturnType<typeof ask>>) => challenges.map(({ request }) => request.currency)
  const { quote } = await ask()
  const asset = (name: string) => quote.accepts.find(({ extra }) => extra.name === name)!.asset
  expect(symbols(await ask({ 'accept-payment': 'solana/charge' }))).toEqual(['sol', asset('USDC')])
  expect(symbols(await ask({ 'accept-payment': 'evm/charge' }))).toEqual([TOKENS.USDC.address, asset('USDT0')])
  expect(symbols(await ask({}, { units: 1, pay_asset: 'BETA' }))).toEqual([asset('BETA')])
})

it('T-100 a renewal can be paid only by transactions', async () => {
  const { receiptId } = await shop.locker(ed25519Identity())
  const { challenges } = await ask({}, { units: 1, extends: receiptId })
  const usdc = payableWith(challenges, TOKENS.USDC.address)
  expect(usdc.request.methodDetails.credentialTypes).toEqual(['hash'])
})

it.each([
  ['solana/*;q=0.2, evm/charge', ['evm', 'solana']],
  ['*/charge, evm/charge;q=0', ['solana']],
  ['not readable', ['solana', 'evm']],
])('T-100 Accept-Payment: %s selects the challenges', async (accepted, methods) => {
  const { challenges, quote } = await ask({ 'accept-payment': accepted })
  expect([...new Set(challenges.map(({ method }) => method))]).toEqual(methods)
  expect(quote.accepts.length).toBeGreaterThan(4)
})

it('T-100 a gateway without a key for the EVM chain accepts only transactions', async () => {
  const other = await market.open({ X402_EVM_FACILITATOR_KEY: '' })
  const { headers } = await other.send('POST', PATH, { units: 1 })
  expect(payableWith(challengesIn(headers), TOKENS.USDC.address).request.methodDetails.credentialTypes).toEqual([
    'hash',
  ])
  await other.close()
})

it('T-100 ADD-09 a web page can read the challenges and the receipt', async () => {
  const { headers, quote } = await ask({ origin: 'https://page.example' })
  expect(payReqId(quote)).toMatch(/^pr_/)
  const exposed = headers.get('access-control-expose-headers')?.split(', ')
  expect(exposed).toEqual(expect.arrayContaining(['WWW-Authenticate', 'Payment-Receipt']))
})

it('T-100 ADD-47 the interface description states the ways to pay in the form that directories read', async () => {
  const document = await (await fetch(`${shop.gateway.url}/openapi.json`)).json()
  expect(validate(document)).toEqual([])
  expect(document['x-service-info']).toMatchObject({ categories: ['storage'] })
  const { offers } = document.paths[PATH].post['x-payment-info']
  expect(offers).toEqual(['solana', 'evm'].map((method) => ({ intent: 'charge', method, amount: null })))
})
