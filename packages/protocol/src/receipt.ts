// The signature on a receipt covers every field but itself and the legacy `result_hash` (RCPT-07).

import { sha256Hex } from '#crypto'
import { asciiBytes, concat, fromHex, toHex, utf8 } from './bytes.ts'
import { canonicalBytes, type Json } from './canonical.ts'
import { type Ed25519Signer, type Ed25519Verifier, ed25519PublicKeyFromBase58, sigAlgOf } from './keys.ts'
import { RECEIPT_CLAIM_TAG, RECEIPT_TAG } from './names.ts'
import { isPersonallySignedBy, isSignedBy } from './request-envelope.ts'

export interface Receipt {
  receipt_id: string
  pay_req_id: string
  /**
   * The proof id that every statement about the locker will contain. It links statements to the receipt by signatures
   * alone. Receipts of older gateways do not have it.
   */
  proof_id?: string
  /** For a renewal: the receipt of the locker that it extends (ADD-17). A renewal has no locker of its own. */
  extends?: string
  paid_amount: string
  paid_raw: string
  received_raw?: string
  pay_asset: string
  network: string
  slot?: number
  block_number?: number
  sig_alg: 'ed25519' | 'secp256k1'
  tx_hash: string
  payer_pubkey: string
  units: number
  confirmed_at: string
  result_hash: string
}

export interface SignedReceipt extends Receipt {
  receipt_sig: string
  receipt_signer_pubkey: string
}

const UNSIGNED_FIELDS = new Set(['result_hash', 'receipt_sig', 'receipt_signer_pubkey'])

/** The signed bytes: tag, zero byte, SHA-256 of the canonical receipt. The tag separates them from statements. */
export function receiptMessage(receipt: Receipt): Uint8Array {
  const core = Object.fromEntries(Object.entries(receipt).filter(([field]) => !UNSIGNED_FIELDS.has(field)))
  const digest = fromHex(sha256Hex(canonicalBytes(core as Json)), 32) as Uint8Array
  return concat(asciiBytes(`${RECEIPT_TAG}\0`), digest)
}

export function signReceipt(receipt: Receipt, signer: Ed25519Signer): SignedReceipt {
  return signedReceipt(receipt, signer.publicKey, signer.sign(receiptMessage(receipt)))
}

/** Adds a signature over `receiptMessage`, for external signing keys. */
export function signedReceipt(receipt: Receipt, publicKey: Uint8Array, signature: Uint8Array): SignedReceipt {
  return { ...receipt, receipt_sig: toHex(signature), receipt_signer_pubkey: toHex(publicKey) }
}

export function isReceiptSignedBy(key: Ed25519Verifier, receipt: SignedReceipt): boolean {
  const signature = fromHex(receipt.receipt_sig, 64)
  return signature !== null && key.verify(receiptMessage(receipt), signature)
}

/**
 * The text that a payer signs to get the receipt of a payment again without its transaction (ADD-13). Wallets display
 * it. `confirmUrl` is the URL for confirmations in the quote. The signature is valid for nothing else, so it may be
 * sent repeatedly.
 */
export function receiptClaim(confirmUrl: string, payReqId: string): Uint8Array {
  return utf8(`${RECEIPT_CLAIM_TAG}\nSend me the receipt of my payment.\nservice: ${confirmUrl}\nquote: ${payReqId}`)
}

/** Whether the payer signed: an Ed25519 signature in base58, or an EIP-191 personal signature of an EVM account. */
export function isClaimSignedBy(payer: string, claim: Uint8Array, signature: string): boolean {
  if (sigAlgOf(payer) === 'secp256k1') return isPersonallySignedBy(payer, claim, signature)
  const key = ed25519PublicKeyFromBase58(payer)
  return key !== null && isSignedBy(key, claim, signature)
}
