// The challenges of a quote in the Machine Payments Protocol: one for each leg that its payment methods can express.
// They follow from the stored quote, so nothing of them is stored. Clients may list their payment methods, by
// preference, in Accept-Payment.

import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { findAsset } from '@svc/api/assets'
import type { CredentialPayload, PaymentMethod } from '@svc/api/mpp'
import { type EvmNetwork, networkNamed, ROLES } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import { canonicalJson, type Json } from '@svc/protocol/canonical'
import { paymentReference } from '@svc/protocol/ids'
import { MPP_CHALLENGE_PREFIX } from '@svc/protocol/names'
import { alternated, MAX_CHARACTERS } from '../payment-headers.ts'
import type { QuoteTexts } from '../quote-template.ts'
import type { SalesConfig } from '../settings.ts'

/** The seller's part of challenges. */
export interface Payee {
  /** The realm of the challenges: the host of the service. */
  realm: string
  isDevelopment: boolean
  /**
   * The wallet that receives tokens on the network of the method `solana`. Null when that network accepts no payments.
   */
  solanaWallet: string | null
  /** Whether the service sends transfers on EVM chains that payers only sign. */
  takesAuthorizations: boolean
}

/** A leg as a payment method expresses it. */
export interface Charge {
  leg: PaymentLeg
  method: PaymentMethod
  /** The types of payloads that can pay it. */
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

/** Everything that a quote's challenges are made from, besides its id. */
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

const REFERENCE_PLACEHOLDER = paymentReference('')

/** The charges of all methods, in the order of display. */
export function chargesOf(accepts: readonly PaymentLeg[], payee: Payee): Charge[] {
  const charges = accepts.flatMap((leg): Charge[] => {
    const network = networkNamed(leg.network)
    const evm = network?.family === 'evm' ? network : null
    const credentialTypes = evm ? evmCredentials(evm, leg, payee) : (['signature'] as const)
    const expressed = evm ? evmCharge(evm, leg, credentialTypes) : solanaCharge(leg, payee)
    if (!expressed) return []
    const { amount } = leg
    const text = canonicalJson({ amount, externalId: REFERENCE_PLACEHOLDER, ...expressed })
    const [before, after] = text.split(REFERENCE_PLACEHOLDER) as [string, string] // it is in there once
    return [{ leg, method: evm ? 'evm' : 'solana', credentialTypes, request: [before, after] }]
  })
  return alternated(charges, ({ method }) => method)
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

/** The recipient is a wallet, also for tokens: clients derive its token account. */
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

/** Always the same for the same quote and leg. Only `opaque`, which stays off chain, leads to `pay_req_id`. */
export function challengeOf(
  { method, request: [before, after] }: Charge,
  textOf: QuoteTexts,
  { realm }: Payee,
): Challenge {
  const payReqId = textOf('payReqId')
  const request = base64Url(before + textOf('reference') + after)
  const expires = textOf('expires')
  const opaque = base64Url(`{"pay_req_id":"${payReqId}"}`)
  // The slots of the draft's binding; a credential is compared with the whole challenge anyway.
  const slots = [realm, method, 'charge', request, expires, '', opaque].join('|')
  const digest = hash('sha256', `${MPP_CHALLENGE_PREFIX}${payReqId}|${slots}`, 'base64url')
  return { id: digest, realm, method, intent: 'charge', request, expires, opaque }
}

function base64Url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/**
 * The header WWW-Authenticate of a quote, limited to what the client can pay with; null when no method expresses a leg.
 */
export function challengesFor(
  { charges, payee }: QuoteCharges,
  textOf: QuoteTexts,
  { headers }: { headers: IncomingHttpHeaders },
): string | null {
  return challengeHeader(acceptedCharges(charges, headers['accept-payment']), textOf, payee)
}

/** As many challenges as fit. */
export function challengeHeader(charges: readonly Charge[], textOf: QuoteTexts, payee: Payee): string | null {
  let header = ''
  for (const charge of charges) {
    const { id, realm, method, intent, request, expires, opaque } = challengeOf(charge, textOf, payee)
    const challenge = `Payment id="${id}", realm="${realm}", method="${method}", intent="${intent}", request="${request}", expires="${expires}", opaque="${opaque}"`
    const longer = header === '' ? challenge : `${header}, ${challenge}`
    if (longer.length > MAX_CHARACTERS.challenges) break
    header = longer
  }
  return header === '' ? null : header
}

const MAX_ACCEPT_CHARACTERS = 512
const RANGE = /^([a-z0-9-]+|\*)\/([a-zA-Z0-9-]+|\*)(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/

interface Range {
  method: string
  intent: string
  weight: number
}

/**
 * The charges that the client can pay, the preferred first. All charges if the header names none of ours or is invalid.
 */
export function acceptedCharges(charges: readonly Charge[], header: string | string[] | undefined): readonly Charge[] {
  const ranges = typeof header === 'string' ? readRanges(header) : null
  if (!ranges) return charges
  const weighted = charges
    .map((charge) => ({ charge, weight: weightOf(charge, ranges) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  if (weighted.length === 0) return charges
  return alternated(
    weighted.map(({ charge }) => charge),
    ({ method }) => method,
  )
}

function readRanges(header: string): Range[] | null {
  if (header.length > MAX_ACCEPT_CHARACTERS) return null
  const ranges = header.split(',').map((text) => RANGE.exec(text.trim()))
  return ranges.every((match) => match !== null)
    ? ranges.map(([, method = '', intent = '', weight = '1']) => ({ method, intent, weight: Number(weight) }))
    : null
}

/** The weight of the most specific range that matches. */
function weightOf({ method }: Charge, ranges: readonly Range[]): number {
  const matching = ranges.filter(
    (range) => [method, '*'].includes(range.method) && ['charge', '*'].includes(range.intent),
  )
  const [best] = matching.toSorted((a, b) => wildcards(a) - wildcards(b) || b.weight - a.weight)
  return best?.weight ?? 0
}

function wildcards({ method, intent }: Range): number {
  return [method, intent].filter((part) => part === '*').length
}
