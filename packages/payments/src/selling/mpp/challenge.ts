// The challenges of a quote in the Machine Payments Protocol: one for each leg that its payment methods can express.
// They follow from the stored quote, so that nothing of them is kept.

import { hash } from 'node:crypto'
import { findAsset } from '@svc/api/assets'
import type { CredentialPayload, PaymentMethod } from '@svc/api/mpp'
import { type EvmNetwork, networkNamed, ROLES } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import { canonicalJson, type Json } from '@svc/protocol/canonical'
import { isoSeconds } from '@svc/protocol/evidence'
import { paymentReference } from '@svc/protocol/ids'
import { MPP_CHALLENGE_PREFIX } from '@svc/protocol/names'
import { inTurns, MAX_CHARACTERS } from '../payment-headers.ts'
import type { QuoteId } from '../quote.ts'
import type { SalesConfig } from '../settings.ts'

/** What challenges say of the seller. */
export interface Payee {
  /** Where the challenge is good: the host of the service. */
  realm: string
  isDevelopment: boolean
  /** The wallet that tokens are paid to on the network of the method `solana`. Null where that takes no payments. */
  solanaWallet: string | null
  /** Whether the service sends transfers on EVM chains that payers have only signed. */
  takesAuthorizations: boolean
}

/** A leg as a payment method expresses it. */
export interface Charge {
  leg: PaymentLeg
  method: PaymentMethod
  /** Types of payloads that pay it. */
  credentialTypes: readonly CredentialPayload['type'][]
  /** The JSON of the request, before and after the payment reference. */
  request: readonly [string, string]
}

export interface Challenge {
  id: string
  realm: string
  method: PaymentMethod
  intent: 'charge'
  /** base64url of canonical JSON, as `opaque`. */
  request: string
  expires: string
  opaque: string
}

/** All that a quote's challenges are made from, besides its id. */
export interface QuoteCharges {
  charges: readonly Charge[]
  payee: Payee
}

interface SellerConfig {
  http: { baseUrl: string }
  mode: string
  payments: Pick<SalesConfig, 'chains'>
}

export function payeeOf({ http, mode, payments }: SellerConfig, takesAuthorizations: boolean): Payee {
  return {
    realm: new URL(http.baseUrl).host,
    isDevelopment: mode === 'development',
    solanaWallet: payments.chains.get(ROLES.solanaPay)?.treasury ?? null,
    takesAuthorizations,
  }
}

export function quoteCharges(accepts: readonly PaymentLeg[], payee: Payee): QuoteCharges {
  return { charges: chargesOf(accepts, payee), payee }
}

const REFERENCE_PLACE = paymentReference('')

export function chargesOf(accepts: readonly PaymentLeg[], payee: Payee): Charge[] {
  return accepts.flatMap((leg) => {
    const network = networkNamed(leg.network)
    const evm = network?.family === 'evm' ? network : null
    const credentialTypes = evm ? evmCredentials(evm, leg, payee) : (['signature'] as const)
    const expressed = evm ? evmCharge(evm, leg, credentialTypes) : solanaCharge(leg, payee)
    if (!expressed) return []
    const { amount } = leg
    const text = canonicalJson({ amount, externalId: REFERENCE_PLACE, ...expressed })
    const [before, after] = text.split(REFERENCE_PLACE) as [string, string] // it is in there once
    return { leg, method: evm ? 'evm' : 'solana', credentialTypes, request: [before, after] }
  })
}

function evmCredentials(
  network: EvmNetwork,
  { extra }: PaymentLeg,
  { takesAuthorizations }: Payee,
): Charge['credentialTypes'] {
  return takesAuthorizations && findAsset(network, extra.name)?.domainVersion !== undefined
    ? ['authorization', 'hash']
    : ['hash']
}

/** The method moves tokens only, not the native coin. */
function evmCharge(
  { nativeAsset, chainId }: EvmNetwork,
  { asset, payTo, extra }: PaymentLeg,
  credentialTypes: Charge['credentialTypes'],
): Record<string, Json> | null {
  if (asset === nativeAsset) return null
  const methodDetails = { chainId, credentialTypes: [...credentialTypes], decimals: extra.decimals }
  return { currency: asset, recipient: payTo, methodDetails }
}

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

/** The recipient is a wallet, also of tokens: clients find its token account themselves. */
function solanaCharge(leg: PaymentLeg, { isDevelopment, solanaWallet }: Payee): Record<string, Json> | null {
  if (leg.network !== ROLES.solanaPay.caip2) return null
  // A client of the real chain must not pay a gateway that runs on a local one (ADD-10).
  const network = isDevelopment ? 'localnet' : 'mainnet-beta'
  const { asset, payTo, extra } = leg
  if (asset === ROLES.solanaPay.nativeAsset) return { currency: 'sol', recipient: payTo, methodDetails: { network } }
  if (solanaWallet === null) return null
  const methodDetails = { network, decimals: extra.decimals, tokenProgram: TOKEN_PROGRAM }
  return { currency: asset, recipient: solanaWallet, methodDetails }
}

/** The same for the same quote and leg, always. Nothing of it leads to `pay_req_id` but `opaque`, which stays off chain. */
export function challengeOf({ method, request: [before, after] }: Charge, id: QuoteId, { realm }: Payee): Challenge {
  const { payReqId, expiresAt } = id
  const request = base64Url(before + paymentReference(payReqId) + after)
  const expires = isoSeconds(expiresAt)
  const opaque = base64Url(`{"pay_req_id":"${payReqId}"}`)
  // The slots of the draft's own binding; a credential is compared with the whole challenge anyway.
  const slots = [realm, method, 'charge', request, expires, '', opaque].join('|')
  const digest = hash('sha256', `${MPP_CHALLENGE_PREFIX}${payReqId}|${slots}`, 'base64url')
  return { id: digest, realm, method, intent: 'charge', request, expires, opaque }
}

function base64Url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** The value of WWW-Authenticate: challenges of each method in turn, as many as fit. Null where no method expresses a leg. */
export function challengeHeader(charges: readonly Charge[], id: QuoteId, payee: Payee): string | null {
  let header = ''
  for (const charge of inTurns(charges, ({ method }) => method)) {
    const { intent, method, ...texts } = challengeOf(charge, id, payee)
    const challenge = `Payment id="${texts.id}", realm="${texts.realm}", method="${method}", intent="${intent}", request="${texts.request}", expires="${texts.expires}", opaque="${texts.opaque}"`
    const longer = header === '' ? challenge : `${header}, ${challenge}`
    if (longer.length > MAX_CHARACTERS.challenges) break
    header = longer
  }
  return header === '' ? null : header
}
