// Headers of x402: signed payments and sign-ins. The header contains each example as base64 of its JSON.

import { PRIMARY } from '@svc/api/networks'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, latin1, must } from '@svc/devnet/properties/rules'
import { PAY_REQ_ID, PAYER, TREASURY } from '@svc/payments/test/solana/wire'
import { ServiceError } from '@svc/service/service-error'
import { expect, it } from 'vitest'
import { readPaymentSignature } from '../../../src/purchases/protocols/x402/payment-signature.ts'
import { readSignIn, SignInRefused, signInChallenge } from '../../../src/purchases/protocols/x402/sign-in.ts'

const ENDPOINT = { url: 'https://gateway.example/v1/x402/storage', now: 1_800_000_000 }
const ADDRESS = `0x${'11'.repeat(20)}`
const ACCEPTED = {
  scheme: 'exact',
  network: PRIMARY.caip2,
  amount: '7',
  asset: TREASURY,
  payTo: TREASURY,
  extra: { pay_req_id: PAY_REQ_ID },
}

it('T-129 T-52 no made-up input breaks the rules of x402 headers', async () => {
  const { info } = signInChallenge(ENDPOINT, (length) => new Uint8Array(length))
  const authorization = {
    from: ADDRESS,
    to: ADDRESS,
    value: '7',
    validAfter: '0',
    validBefore: '99',
    nonce: `0x${'0'.repeat(64)}`,
  }
  const examples = [
    { x402Version: 2, accepted: ACCEPTED, payload: { signature: '0xabcd', authorization } },
    {
      x402Version: 2,
      accepted: ACCEPTED,
      payload: { transaction: 'AAAA' },
      extensions: { 'payment-identifier': { info: { id: 'x'.repeat(16) } } },
    },
    { ...info, address: PAYER, chainId: PRIMARY.caip2, signature: '5'.repeat(88), type: 'ed25519' },
    { ...info, address: ADDRESS, chainId: 'eip155:143', signature: '0xab', type: 'eip191' },
  ]
  const inBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
  expect(
    await problemWith({
      examples: [...examples.map((example) => JSON.stringify(example)), ...examples.map(inBase64)],
      words: [
        ...'= + / - x402Version payload accepted extensions 0x eip155:143 2026-02-30T00:00:00Z .999999999Z'.split(' '),
        ADDRESS,
      ],
      isJson: true,
      maxBytes: 16_384,
      rule(input) {
        checkHeader(latin1(input))
        const value = json(input)
        if (value !== undefined) checkHeader(inBase64(value))
      },
    }),
  ).toBeNull()
})

function checkHeader(header: string): void {
  const payment = accepted(ServiceError, () => readPaymentSignature(header))
  if (payment) must(/^pr_[0-9a-f]{32}$/.test(payment.accepted.extra.pay_req_id), 'accepts a payment for no quote')
  const signIn = accepted(SignInRefused, () => readSignIn(header, ENDPOINT))
  if (!signIn) return
  const { iat, exp, bytes } = signIn
  must(exp > ENDPOINT.now && iat <= ENDPOINT.now + 60 && exp - iat <= 300, 'accepts a sign-in of another time')
  const signed = Buffer.from(bytes).toString()
  must(signed.startsWith('gateway.example wants you to sign in'), 'accepts a sign-in of another site')
  must(signed.includes(`\nURI: ${ENDPOINT.url}\n`), 'accepts a sign-in for another endpoint')
}
