// A receipt on its own: its signature, its id, its key, and whether it is the receipt of a bundle.

import { receiptId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import { type Fact, notChecked, passedUnless } from './facts.ts'
import type { PinnedKey } from './pinned-keys.ts'

export type ReceiptFacts = Record<
  'receipt_signature_valid' | 'receipt_id_matches' | 'receipt_key_pinned' | 'receipt_is_of_bundle',
  Fact
>

export function receiptFacts(
  receipt: SignedReceipt,
  pinned: readonly PinnedKey[],
  bundleReceiptId: string | null,
): ReceiptFacts {
  const { receipt_id, pay_req_id, tx_hash, receipt_signer_pubkey } = receipt
  const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)
  const isPinned = pinned.some(
    ({ publicKeyHex, use }) => publicKeyHex === receipt_signer_pubkey && (use === null || use === 'receipt'),
  )
  return {
    receipt_signature_valid: passedUnless(
      key && isReceiptSignedBy(key, receipt) ? null : 'the signature is not that of receipt_signer_pubkey',
    ),
    receipt_id_matches: passedUnless(
      receipt_id === receiptId(pay_req_id, tx_hash) ? null : 'the id does not follow from quote and payment',
    ),
    receipt_key_pinned:
      pinned.length === 0
        ? notChecked('no key was pinned')
        : passedUnless(isPinned ? null : 'the key that signed is not among the pinned keys'),
    receipt_is_of_bundle: passedUnless(receipt_id === bundleReceiptId ? null : 'the bundle is about another receipt'),
  }
}
