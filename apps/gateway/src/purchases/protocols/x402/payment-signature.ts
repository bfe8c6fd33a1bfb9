// Reads the PAYMENT-SIGNATURE header and finds the leg that it pays.

import { PaymentSignature, type X402Leg } from '@svc/api/x402'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { schemaCheck } from '@svc/service/http/validate'
import { malformedPayment, notSettled, onlyVersion2 } from './errors.ts'

/** Twice the size that stock clients send with our longest quote. */
const MAX_CHARACTERS = 12_288
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

const objection = schemaCheck(PaymentSignature)

export function readPaymentSignature(header: string | string[]): PaymentSignature {
  if (typeof header !== 'string' || header.length > MAX_CHARACTERS)
    throw malformedPayment(`must be one value of at most ${MAX_CHARACTERS} characters`)
  if (!BASE64.test(header)) throw malformedPayment('is not base64')
  const signature = parsed(Buffer.from(header, 'base64'))
  if ((signature as { x402Version?: unknown } | null)?.x402Version === 1) throw onlyVersion2('PAYMENT-SIGNATURE')
  const problem = objection(signature)
  if (problem) throw malformedPayment(`is not an x402 version 2 payment: ${problem}`)
  return signature as PaymentSignature // validated by the schema
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes, MAX_CHARACTERS)
  } catch (error) {
    throw malformedPayment(`is not base64 of JSON: ${(error as Error).message}`)
  }
}

/** The leg as offered. Clients repeat the whole leg; only these fields are compared. */
export function signedLeg(accepts: readonly X402Leg[], { accepted }: PaymentSignature): X402Leg {
  const leg = accepts.find((offered) =>
    (['scheme', 'network', 'amount', 'asset', 'payTo'] as const).every((field) => offered[field] === accepted[field]),
  )
  if (!leg) throw notSettled({ why: 'invalid', reason: 'leg_not_in_quote' }, accepts[0] as X402Leg) // every quote has a leg
  // Legs of plain quotes require a transaction; those of release 1.0.0 could be signed on the EVM chain.
  if (leg.extra.feePayer === undefined && leg.extra.version === undefined)
    throw notSettled({ why: 'invalid', reason: 'leg_not_signable' }, leg)
  return leg
}
