// Reads `Authorization: Payment`. Checks only the form: the quote decides whether its challenge is one of ours.

import { CREDENTIAL_PAYLOADS, type CredentialPayload, PaymentCredential } from '@svc/api/mpp'
import { canonicalTx } from '@svc/protocol/ids'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { schemaCheck } from '@svc/service/http/validate'
import type { QuoteTexts } from '../quote-template.ts'
import { type Challenge, type Charge, challengeOf, type Payee } from './challenge.ts'
import { credentialInvalid } from './problems.ts'

/** Four times what clients send for our longest challenge. */
const MAX_CHARACTERS = 8192
const MAX_VALUES = 64
const PAYMENT = /^Payment +(\S.*)$/i
const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/

const credentialObjection = schemaCheck(PaymentCredential)
const payloadObjections = {
  solana: schemaCheck(CREDENTIAL_PAYLOADS.solana),
  evm: schemaCheck(CREDENTIAL_PAYLOADS.evm),
}

export interface Credential {
  challenge: PaymentCredential['challenge']
  payload: PaymentCredential['payload']
  /** The quote that the challenge was made for, as the client states it. */
  payReqId: string
}

/** Null when the header has no credential of the scheme Payment: other schemes are ignored here. */
export function readCredential(authorization: string | undefined): Credential | null {
  const found = (authorization?.split(',') ?? []).flatMap((part) => PAYMENT.exec(part.trim())?.[1] ?? [])
  const [text] = found
  if (text === undefined) return null
  if (found.length > 1) throw malformed('has more than one credential')
  if (text.length > MAX_CHARACTERS) throw malformed(`is longer than ${MAX_CHARACTERS} characters`)
  if (!BASE64URL.test(text)) throw malformed('is not base64url')
  const credential = parsed(text, 'is')
  const problem = credentialObjection(credential)
  if (problem) throw malformed(`is not a payment credential: ${problem}`)
  const { challenge, payload } = credential as PaymentCredential // by its schema
  const opaque = parsed(challenge.opaque, 'has an opaque that is') as { pay_req_id?: unknown } | null
  const payReqId = opaque?.pay_req_id
  if (typeof payReqId !== 'string' || !/^pr_[0-9a-f]{32}$/.test(payReqId)) throw unknownChallenge()
  return { challenge, payload, payReqId }
}

function parsed(text: string, what: string): unknown {
  try {
    return parseStrictJson(Buffer.from(text, 'base64url'), MAX_CHARACTERS, MAX_VALUES)
  } catch (error) {
    throw malformed(`${what} not base64url of JSON: ${(error as Error).message}`)
  }
}

/** The charge whose challenge the credential repeats, with every parameter unchanged, and the payload for it. */
export function chargeOf(
  { challenge, payload }: Credential,
  charges: readonly Charge[],
  textOf: QuoteTexts,
  payee: Payee,
): { charge: Charge; challenge: Challenge; payload: CredentialPayload } {
  for (const charge of charges) {
    const expected = challengeOf(charge, textOf, payee)
    if (!isSame(challenge, expected)) continue
    const problem = payloadObjections[charge.method](payload)
    if (problem) throw invalidPayload(problem)
    const checked = payload as CredentialPayload // by the schema of its method
    if (!charge.credentialTypes.includes(checked.type)) throw invalidPayload(checked.type)
    return { charge, challenge: expected, payload: checked }
  }
  throw unknownChallenge()
}

/** The transaction of a credential, and the leg that it claims to pay; null for a transfer that was only signed. */
export function shownTransaction({ charge: { leg }, payload }: { charge: Charge; payload: CredentialPayload }) {
  if (payload.type === 'authorization') return null
  const tx = payload.type === 'hash' ? payload.hash : payload.signature
  return { tx: canonicalTx(tx), pay_network: leg.network, pay_asset: leg.extra.name }
}

function isSame(echoed: Record<string, string>, expected: Challenge): boolean {
  const fields = Object.entries(expected)
  return Object.keys(echoed).length === fields.length && fields.every(([name, value]) => echoed[name] === value)
}

function malformed(problem: string) {
  return credentialInvalid('malformed-credential', `Authorization: Payment ${problem}`)
}

function invalidPayload(problem: string) {
  return credentialInvalid('invalid-payload', `the payload has no type that this challenge accepts: ${problem}`)
}

export function unknownChallenge() {
  return credentialInvalid('invalid-challenge', 'the credential does not match a challenge of this service')
}
