// The Machine Payments Protocol. A credential names a transaction that the payer has sent, or contains a transfer of
// USDC on an EVM chain that the payer has signed for the challenge (EIP-3009), which the gateway sends like an x402
// payment.

import { findAsset } from '@svc/api/assets'
import type { Body } from '@svc/api/endpoint'
import type { AuthorizationPayload } from '@svc/api/mpp'
import { networkNamed } from '@svc/api/networks'
import type { Confirmation, confirmStorage, Quote, requestStorage } from '@svc/api/purchases'
import { type Challenge, challengesFor } from '@svc/payments/selling/mpp/challenge'
import {
  type Credential,
  chargeOf,
  readCredential,
  shownTransaction,
  unknownChallenge,
} from '@svc/payments/selling/mpp/credential'
import { asProblem } from '@svc/payments/selling/mpp/problems'
import { boughtAnswer } from '@svc/payments/selling/mpp/receipt'
import { addressKey } from '@svc/service/guard/address-key'
import type { Answer } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ValidationError } from '@svc/service/service-error'
import { keccak256, toBytes } from 'viem'
import { limitAnonymous } from '../../auth/limits.ts'
import { type Context, unixNow } from '../../context.ts'
import { storageCharges, textsOf } from '../quote.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../store.ts'
import { confirmation, confirmShown } from './transaction.ts'
import { cannotSettle, PaymentRefused } from './x402/errors.ts'
import { openLocker, payOnce } from './x402/pay-once.ts'
import type { Settler, SignedPayment } from './x402/settler.ts'
import { findSettlement } from './x402/store.ts'

type Order = Body<typeof requestStorage>
type Confirm = Body<typeof confirmStorage>
type Bought = Answer<Confirmation>

/** Clients repeat the order that the challenge answered. Null without a credential. */
export async function buyWithCredential(context: Context, order: Order, wire: WireRequest): Promise<Bought | null> {
  const credential = await readRateLimitedCredential(context, wire)
  if (!credential) return null
  const request = await findQuote(context, credential)
  requireSameOrder(order, request)
  return pay(context, request, credential, wire)
}

/** Null without a credential. */
export async function confirmWithCredential(
  context: Context,
  body: Confirm,
  wire: WireRequest,
): Promise<Bought | null> {
  const credential = await readRateLimitedCredential(context, wire)
  if (!credential) return null
  if (credential.payReqId !== body.pay_req_id) throw asProblem(unknownChallenge())
  return pay(context, await findQuote(context, credential), credential, wire)
}

/** Rate limits also count unusable credentials. */
async function readRateLimitedCredential(context: Context, wire: WireRequest): Promise<Credential | null> {
  if (wire.headers.authorization === undefined) return null
  try {
    const credential = readCredential(wire.headers.authorization)
    if (credential) await limitAnonymous(context, wire, null)
    return credential
  } catch (error) {
    await limitAnonymous(context, wire, null)
    throw asProblem(error)
  }
}

async function findQuote({ database }: Context, { payReqId }: Credential): Promise<PayRequest> {
  const request = await findPayRequest(database.db, payReqId)
  if (!request) throw asProblem(unknownChallenge())
  return request
}

async function pay(context: Context, request: PayRequest, credential: Credential, wire: WireRequest): Promise<Bought> {
  try {
    return await paid(context, request, credential, wire)
  } catch (error) {
    throw asProblem(error, error instanceof PaymentRefused ? await repeatChallenges(context, request, wire) : null)
  }
}

async function paid(context: Context, request: PayRequest, credential: Credential, wire: WireRequest): Promise<Bought> {
  const { charges, payee } = storageCharges(context.config, JSON.parse(request.quote) as Quote)
  const named = chargeOf(credential, charges, textsOf(request), payee)
  const shown = shownTransaction(named)
  if (shown) {
    const { tx, ...leg } = shown
    const payment = { pay_req_id: request.pay_req_id, ...leg, proof: { tx, signature: undefined } }
    return boughtAnswer(named.challenge, await confirmShown(context, payment, wire))
  }
  await context.continuity.requireCurrent()
  const { payment, settler } = signedTransfer(context, request, named, wire)
  const settled = await payOnce(context, payment, settler)
  const { locker_id } = await openLocker(context, request, settled)
  return boughtAnswer(named.challenge, { ...confirmation(settled.receipt, !settled.isNew), locker_id })
}

/**
 * After a signed payment that can never pay, returns the challenges of the same quote: signing them again produces the
 * same authorization, which pays once. Throws while the quote is paid, being paid, or expired.
 */
async function repeatChallenges({ database, config, ...context }: Context, request: PayRequest, wire: WireRequest) {
  const { db } = database
  const { pay_req_id, expires_at } = request
  if (unixNow(context) > expires_at) return null
  if ((await findReceiptOfRequest(db, pay_req_id)) ?? (await findSettlement(db, pay_req_id))) return null
  return challengesFor(storageCharges(config, JSON.parse(request.quote) as Quote), textsOf(request), wire)
}

/** The credential pays for its quote: a body that orders something else is rejected before payment. */
function requireSameOrder({ units, provider, extends: renewed }: Order, request: PayRequest): void {
  const { renewal } = (JSON.parse(request.quote) as Quote).extensions.svc
  if (units !== request.units) throw otherOrder('units', String(request.units))
  if (provider !== undefined && provider !== request.provider) throw otherOrder('provider', request.provider)
  if (renewed !== renewal?.receipt_id) throw otherOrder('extends', renewal ? 'a renewal' : 'a new locker')
}

function otherOrder(field: string, quoted: string): ValidationError {
  return new ValidationError({ loc: ['body', field], msg: `the quote of the credential is for ${quoted}` })
}

/** Converts the payment for the x402 settlement, with the same checks, limits and receipts. */
function signedTransfer(
  { settlers }: Context,
  request: PayRequest,
  { charge: { leg }, challenge, payload }: ReturnType<typeof chargeOf>,
  wire: WireRequest,
): { payment: SignedPayment; settler: Settler } {
  const { type: _, signature, ...authorization } = payload as AuthorizationPayload // it names no transaction
  // A signature for another challenge does not pay this one.
  if (authorization.nonce.toLowerCase() !== challengeHash(challenge)) throw unknownChallenge()
  const network = networkNamed(leg.network)
  const settler = network ? settlers.get(network) : undefined
  const id = settler?.paymentId({ signature, authorization }) ?? null
  // A leg that must be paid with a transaction has no match here.
  const version = network ? findAsset(network, leg.extra.name)?.domainVersion : undefined
  if (!settler || id === null || version === undefined) throw cannotSettle()
  const signable = { ...leg, extra: { ...leg.extra, version } }
  const address = addressKey(wire.clientAddress)
  // Signing a challenge again produces the same authorization.
  const payment = { request, leg: signable, payload: { signature, authorization }, id, address, isKeyed: false }
  return { payment, settler }
}

/** The nonce of an authorization for a challenge. */
function challengeHash({ id, realm }: Challenge): string {
  return keccak256(toBytes(id + realm))
}
