import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, type SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { requireTrusted } from './trusted-keys.ts'

/** That a receipt is signed by a trusted key: every field of it counts. */
export async function checkReceipt(context: Context, receipt: SignedReceipt): Promise<void> {
  const { receipt_signer_pubkey } = receipt
  await requireTrusted(context, receipt_signer_pubkey, 'the receipt')
  const key = ed25519PublicKeyFromHex(receipt_signer_pubkey)
  if (!key || !isReceiptSignedBy(key, receipt)) throw new UntrueAnswer('the signature of the receipt does not hold')
}
