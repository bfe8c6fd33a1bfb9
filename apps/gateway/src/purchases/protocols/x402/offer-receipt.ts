// The extension offer-receipt: offers and receipts in the format that x402 clients verify, signed with the key of our
// own receipts. Both are optional: a sale continues without them if the key is unavailable.

import type { X402Leg, X402Quote } from '@svc/api/x402'
import { concat, toBase58, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { canonicalJson, type Json } from '@svc/protocol/canonical'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../../../context.ts'

const VERSION = 1
/** The multicodec of Ed25519 public keys. */
const ED25519 = new Uint8Array([0xed, 0x01])

type StatementKey = Context['statementKeys']['configured']

interface Jws {
  format: 'jws'
  signature: string
}

/** Deterministic for the same receipt and key. */
export async function x402Receipt(
  { statementKeys, log }: Context,
  resourceUrl: string,
  network: string,
  { payer_pubkey, tx_hash, confirmed_at }: SignedReceipt,
): Promise<Jws | null> {
  const issuedAt = Date.parse(confirmed_at) / 1000
  const payload = { version: VERSION, network, resourceUrl, payer: payer_pubkey, issuedAt, transaction: tx_hash }
  try {
    return { format: 'jws', signature: await jws(await statementKeys.current(), payload) }
  } catch (err) {
    log.warn({ err }, 'cannot sign an offer-receipt receipt; the purchase is answered without it')
    return null
  }
}

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { offers: { type: 'array' } },
  required: ['offers'],
}

/** An offer names no quote, so all offers of one minute and price share a signature. */
const SHARED_SECONDS = 60

/** An offer for each leg of a quote; none if the key is unavailable. `expiresAt` is in Unix seconds. */
export async function signOffers(
  context: Context,
  { resource, accepts }: Pick<X402Quote, 'resource' | 'accepts'>,
  expiresAt: number,
): Promise<Pick<X402Quote['extensions'], 'offer-receipt'>> {
  const { statementKeys, log } = context
  // An unresponsive signer would delay every quote.
  if ((await statementKeys.health()) === 'failing') return {}
  const validUntil = expiresAt - (expiresAt % SHARED_SECONDS)
  try {
    const key = await statementKeys.current()
    const signed = await Promise.all(accepts.map((leg) => offerOf(context, key, resource.url, leg, validUntil)))
    const offers = signed.map((signature, acceptIndex) => ({ format: 'jws' as const, acceptIndex, signature }))
    return { 'offer-receipt': { info: { offers }, schema: SCHEMA } }
  } catch (err) {
    log.warn({ err }, 'cannot sign offer-receipt offers; the quote is answered without them')
    return {}
  }
}

async function offerOf(
  { offerSignatures }: Context,
  key: StatementKey,
  url: string,
  leg: X402Leg,
  validUntil: number,
): Promise<string> {
  const { scheme, network, asset, payTo, amount } = leg
  const payload = { version: VERSION, resourceUrl: url, scheme, network, asset, payTo, amount, validUntil }
  const name = canonicalJson([toBase58(key.publicKey), payload])
  const signature = offerSignatures.get(name) ?? (await jws(key, payload))
  offerSignatures.set(name, signature)
  return signature
}

async function jws(key: StatementKey, payload: Record<string, Json>): Promise<string> {
  const header = { alg: 'EdDSA', kid: didKey(key.publicKey) }
  const signed = [header, payload].map((part) => toBase64Url(utf8(canonicalJson(part)))).join('.')
  return `${signed}.${toBase64Url(await key.sign(utf8(signed)))}`
}

/** Contains the public key itself: clients compare it with the keys of GET /v1/keys. */
function didKey(publicKey: Uint8Array): string {
  const name = `z${toBase58(concat(ED25519, publicKey))}`
  return `did:key:${name}#${name}`
}
