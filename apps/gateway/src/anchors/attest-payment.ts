// Records the code of a payment, and publishes it in a memo where that is enabled.

import { ChainUnavailable } from '@svc/chains/node-pool'
import { watchTransaction } from '@svc/chains/solana/outcome'
import type { SignedTransaction } from '@svc/chains/solana/sign-transaction'
import { sendOnce } from '@svc/chains/transactions'
import { ServiceError } from '@svc/http-service/service-error'
import { canonicalBytes } from '@svc/protocol/canonical'
import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { findReceiptAndLocker } from '../auth/store.ts'
import { unixNow } from '../context.ts'
import { NotPublished } from './errors.ts'
import { memoInstruction } from './memo.ts'
import type { Publisher } from './publisher.ts'
import { lostTransaction } from './record-outcome.ts'
import type { AnchorsContext } from './room.ts'
import { findPaymentCode, notePaymentMemo, recordPaymentCode, recordPaymentSlot } from './store.ts'

export async function attestPayment(context: AnchorsContext, receipt_id: string) {
  const { database, publisher, config } = context
  const found = await findReceiptAndLocker(database.db, receipt_id)
  if (!found) throw new ServiceError('receipt_not_found', 'there is no receipt with this id')
  const att_code = paymentAttCode(found.receipt)
  await recordPaymentCode(database.db, { receipt_id, att_code, recorded_at: unixNow(context) })
  if (publisher && config.anchors.includesPayments) {
    await publishCode(context, publisher, found.receipt, att_code).catch(rejectAsAnchorFailed)
  }
  return { ok: true as const, receipt_id, att_code, recorded: true }
}

/** The memo names the payment and not the receipt, whose id opens files. */
async function publishCode(
  { database: { db }, config }: AnchorsContext,
  publisher: Publisher,
  { receipt_id, network, tx_hash }: SignedReceipt,
  attCode: number,
): Promise<void> {
  const memo = canonicalBytes({ s: 'svc/payment/v1', net: network, tx: tx_hash, code: attCode })
  let lost: string | null = null
  await sendOnce<SignedTransaction, number>({
    async resolve(round) {
      const { tx, raw, last_valid_height, slot } = await findPaymentCode(db, receipt_id)
      if (slot !== null) return slot
      if (tx === null || raw === null || last_valid_height === null) return null
      const noted = { tx, raw, last_valid_height }
      const found = await watchTransaction(publisher.nodes, noted, config.anchors.waitSeconds * 1000)
      if (found.outcome === 'pending') throw new NotPublished('outcome_unknown', tx, { tx, isAmbiguous: true })
      if (found.outcome === 'landed') {
        await recordPaymentSlot(db, receipt_id, found.slot)
        return found.slot
      }
      if (round > 0) throw lostTransaction(noted, found)
      lost = tx
      return null
    },
    sign: () => publisher.prepare([memoInstruction(memo, config.anchors.memoProgram, publisher.signer)]),
    note: (signed) => notePaymentMemo(db, receipt_id, lost, signed),
    send: ({ raw }) => publisher.nodes.send(raw),
  })
}

function rejectAsAnchorFailed(error: unknown): never {
  if (!(error instanceof NotPublished) && !(error instanceof ChainUnavailable)) throw error
  throw new ServiceError('anchor_failed', `the code of the payment could not be published: ${error.message}`, {
    hint: 'ask again: what was sent is looked for first',
    cause: error,
  })
}
