// Reads the PAYMENT-SIGNATURE header and finds the leg that it pays.

import { PaymentSignature, type X402Leg } from '@svc/api/x402'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { schemaCheck } from '@svc/http-service/validate'
import { parseStrictJson } from '@svc/protocol/strict-json'

/** Twice what stock clients send with our longest quote. */
const MAX_CHARACTERS = 8192
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

const objection = schemaCheck(PaymentSignature)

export function readPaymentSignature(header: string | string[]): PaymentSignature {
  if (typeof header !== 'string' || header.length > MAX_CHARACTERS)
    throw unreadable(`must be one value of at most ${MAX_CHARACTERS} characters`)
  if (!BASE64.test(header)) throw unreadable('is not base64')
  const signature = parsed(Buffer.from(header, 'base64'))
  const problem = objection(signature)
  if (problem) throw unreadable(`is not an x402 version 2 payment: ${problem}`)
  return signature as PaymentSignature // by its schema
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes, MAX_CHARACTERS)
  } catch (error) {
    throw unreadable(`is not base64 of JSON: ${(error as Error).message}`)
  }
}

export function unreadable(msg: string): ValidationError {
  return new ValidationError({ loc: ['header', 'PAYMENT-SIGNATURE'], msg })
}

/** The leg as we offered it. Clients repeat the whole leg; only these fields are compared. */
export function signedLeg(accepts: readonly X402Leg[], { accepted }: PaymentSignature): X402Leg {
  const leg = accepts.find((offered) =>
    (['scheme', 'network', 'amount', 'asset', 'payTo'] as const).every((field) => offered[field] === accepted[field]),
  )
  if (leg) return leg
  throw new ServiceError('leg_not_in_quote', 'what was accepted is not in the quote; nothing was sent', {
    hint: 'sign for an entry of accepts as it is',
  })
}
