// The extension offer-receipt: a receipt in the form that x402 clients check, signed with the key of our own receipts.

import { concat, toBase58, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { canonicalJson } from '@svc/protocol/canonical'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { X402Context } from '../room.ts'

const VERSION = 1
/** The multicodec of Ed25519 public keys. */
const ED25519 = new Uint8Array([0xed, 0x01])

/**
 * The same for the same receipt and key. Null where the key cannot be reached: the purchase is good without it, and our
 * own receipt is in the body.
 */
export async function x402Receipt(
  { statementKeys, log }: X402Context,
  resourceUrl: string,
  network: string,
  { payer_pubkey, tx_hash, confirmed_at }: SignedReceipt,
): Promise<{ format: 'jws'; signature: string } | null> {
  const issuedAt = Date.parse(confirmed_at) / 1000
  const payload = { version: VERSION, network, resourceUrl, payer: payer_pubkey, issuedAt, transaction: tx_hash }
  try {
    const key = await statementKeys.current()
    const header = { alg: 'EdDSA', kid: didKey(key.publicKey) }
    const signed = [header, payload].map((part) => toBase64Url(utf8(canonicalJson(part)))).join('.')
    return { format: 'jws', signature: `${signed}.${toBase64Url(await key.sign(utf8(signed)))}` }
  } catch (err) {
    log.warn({ err }, 'a purchase is answered without the receipt of the extension offer-receipt')
    return null
  }
}

/** Holds the public key itself: clients compare it with those of GET /v1/keys. */
function didKey(publicKey: Uint8Array): string {
  const name = `z${toBase58(concat(ED25519, publicKey))}`
  return `did:key:${name}#${name}`
}
