// Challenges and credentials of the Machine Payments Protocol. An example is a header, or the JSON of a credential.

import { EVM, PRIMARY } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, latin1, must, mustEqual } from '@svc/devnet/properties/rules'
import { ServiceError } from '@svc/service/service-error'
import { expect, it } from 'vitest'
import { acceptedCharges, challengeHeader, challengeOf, chargesOf } from '../../src/selling/mpp/challenge.ts'
import { type Credential, chargeOf, readCredential } from '../../src/selling/mpp/credential.ts'
import { asProblem } from '../../src/selling/mpp/problems.ts'
import { quoteTexts } from '../../src/selling/quote-template.ts'
import { PAY_REQ_ID, TREASURY } from '../solana/wire.ts'

const TEXTS = quoteTexts({ payReqId: PAY_REQ_ID, expiresAt: 1_800_000_000 })
const PAYEE = { realm: 'gateway.example', isDevelopment: false, solanaWallet: TREASURY, takesAuthorizations: true }
const leg = (network: string, asset: string, name: string) =>
  ({ network, asset, payTo: TREASURY, amount: '7', extra: { name, decimals: 6 } }) as unknown as PaymentLeg // all that is read of it
const CHARGES = chargesOf(
  [
    leg(PRIMARY.caip2, PRIMARY.nativeAsset, 'SOL'),
    leg(PRIMARY.caip2, TREASURY, 'USDC'),
    leg(EVM.caip2, `0x${'33'.repeat(20)}`, 'USDC'),
  ],
  PAYEE,
)

it('T-129 T-52 no made-up input breaks the rules of MPP headers', async () => {
  const payloads = [
    { type: 'signature', signature: '5'.repeat(88) },
    { type: 'hash', hash: `0x${'ab'.repeat(32)}` },
    { type: 'signature', signature: '5'.repeat(64) },
  ]
  const credentials = CHARGES.map((charge, i) => ({
    challenge: challengeOf(charge, TEXTS, PAYEE),
    payload: payloads[i],
  }))
  const header = (credential: unknown) => `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`
  const documents = credentials.map((credential) => JSON.stringify(credential))
  expect(
    await problemWith({
      examples: [
        ...documents,
        ...credentials.map(header),
        'solana/charge;q=0.5, evm/*, */*;q=0',
        challengeHeader(CHARGES, TEXTS, PAYEE)!,
      ],
      words: [
        ...', ;q= 0.001 1.000 */* evm/charge type hash signature authorization opaque = {'.split(' '),
        'Payment ',
        'payment  ',
        ', ',
      ],
      isJson: true,
      rule(input) {
        const given = latin1(input)
        checkHeader(given)
        const credential = json(input)
        const isFound = credential !== undefined && checkHeader(header(credential))
        must(isFound || !documents.includes(given), 'rejects a credential that answers a challenge')
        const charges = acceptedCharges(CHARGES, given)
        must(
          charges.length > 0 && charges.every((charge) => CHARGES.includes(charge)),
          'offers no charge, or another one',
        )
        must(new Set(charges).size === charges.length, 'offers a charge twice')
      },
    }),
  ).toBeNull()
})

function checkHeader(authorization: string): boolean {
  const credential = refusing(() => readCredential(authorization))
  const found = credential && refusing(() => chargeOf(credential as Credential, CHARGES, TEXTS, PAYEE))
  if (!found) return false
  mustEqual(found.challenge, challengeOf(found.charge, TEXTS, PAYEE), 'accepts a challenge that was not issued')
  must(found.charge.credentialTypes.includes(found.payload.type), 'accepts a payload of another type')
  return true
}

function refusing<T>(read: () => T): T | null {
  return accepted(ServiceError, () => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      const problem = asProblem(error)
      must(problem instanceof ServiceError && problem.status === 402, 'fails without problem details for clients')
      JSON.stringify((problem as ServiceError).body('1'))
      throw error
    }
  })
}
