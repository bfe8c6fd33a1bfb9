// The facts about a receipt: its signature, its id, its key, and whether it is the receipt of a bundle.

import { unixSeconds } from '@svc/protocol/evidence'
import { receiptId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { type Fact, failed, notChecked, PASSED, passedUnless, type RECEIPT_FACTS } from './facts.ts'
import { isValid, keyPinned } from './signature-facts.ts'
import type { VerifiedBundle } from './verify-bundle.ts'

export type ReceiptFacts = Record<(typeof RECEIPT_FACTS)[number], Fact>

/** The texts of a receipt that the facts use. No other field is assumed to have any type. */
export type ReceiptTexts = Pick<
  SignedReceipt,
  'receipt_id' | 'pay_req_id' | 'tx_hash' | 'receipt_sig' | 'receipt_signer_pubkey'
>

export const MAX_RECEIPT_BYTES = 64 * 1024

/** Null for bytes that are not a receipt. */
export function readReceipt(bytes: Uint8Array): ReceiptTexts | null {
  try {
    const receipt = parseStrictJson(bytes, MAX_RECEIPT_BYTES) as unknown as ReceiptTexts
    const { receipt_id, pay_req_id, tx_hash, receipt_sig, receipt_signer_pubkey } = receipt
    const texts = [receipt_id, pay_req_id, tx_hash, receipt_sig, receipt_signer_pubkey]
    // Text with a lone surrogate has no UTF-8, so it has no hash.
    return texts.every((text) => typeof text === 'string' && text.isWellFormed()) ? receipt : null
  } catch {
    return null
  }
}

/** The fields of a bundle that no fact covers. A receipt that is linked to the bundle covers its id. */
export function uncheckedWith(
  receipt: ReceiptFacts | null,
  { unchecked }: Pick<VerifiedBundle, 'unchecked'>,
): string[] {
  const isLinked = receipt?.receipt_is_of_bundle.value === 'passed'
  return unchecked.filter((field) => !(isLinked && field === 'receipt_id'))
}

type Bundle = Pick<VerifiedBundle, 'facts' | 'key' | 'envelope' | 'receiptId' | 'followed'>

/** Verifies a receipt with the keys that the bundle was verified with. */
export function receiptFacts(of: ReceiptTexts, bundle: Bundle): ReceiptFacts {
  const receipt = of as SignedReceipt // every field is signed, whatever its type
  const { receipt_id, pay_req_id, tx_hash, receipt_signer_pubkey, confirmed_at } = receipt
  const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)
  const isSigned = key !== null && isValid(() => isReceiptSignedBy(key, receipt))
  const own = {
    receipt_signature_valid: passedUnless(isSigned ? null : 'the signature is not by receipt_signer_pubkey'),
    receipt_id_matches: passedUnless(
      receipt_id === receiptId(pay_req_id, tx_hash) ? null : 'the id is not derived from the quote and the payment',
    ),
    receipt_key_pinned:
      bundle.followed.keys.length === 0
        ? notChecked('no key was pinned: the signature only shows that the receipt is consistent')
        : keyPinned(receipt_signer_pubkey, bundle.followed, {
            use: 'receipt',
            at: unixSeconds(confirmed_at),
            isDated: true,
          }),
  }
  return { ...own, receipt_is_of_bundle: isOfBundle(receipt, own, bundle) }
}

/**
 * The receipt and the statement each contain the signed proof id. This links them if both signatures are by one
 * gateway: by the same key, or by two pinned keys. Anyone can sign a bundle that repeats a proof id.
 */
function isOfBundle(receipt: SignedReceipt, own: Omit<ReceiptFacts, 'receipt_is_of_bundle'>, bundle: Bundle): Fact {
  const { facts, key, envelope, receiptId: named } = bundle
  const proofId = receipt.proof_id ?? null
  if (named !== null && named !== receipt.receipt_id) return failed('the bundle is about another receipt')
  if (!envelope) return notChecked('no signature links them: the bundle has no statement')
  if (proofId === null) return notChecked('no signature links them: the receipt is older than proof ids in receipts')
  if (proofId !== envelope.body.proof_id) return failed('the proof id of the receipt is not that of the statement')
  const areSigned = hasPassed(own.receipt_signature_valid) && hasPassed(facts.signature_valid)
  if (!areSigned) return notChecked('no signature links them: one of the signatures is invalid')
  const arePinned = hasPassed(own.receipt_key_pinned) && hasPassed(facts.key_pinned)
  if (receipt.receipt_signer_pubkey === key?.public_key_hex || arePinned) return PASSED
  return notChecked('receipt and statement are signed by two keys, which are not both pinned')
}

function hasPassed({ value }: Fact): boolean {
  return value === 'passed'
}
