import { ChainUnavailable } from '@svc/chains/node-pool'
import { watchTransaction } from '@svc/chains/solana/outcome'
import type { SignedTransaction } from '@svc/chains/solana/sign-transaction'
import { sendOnce } from '@svc/chains/transactions'
import { ServiceError } from '@svc/http-service/service-error'
import { canonicalBytes } from '@svc/protocol/canonical'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { NotPublished } from './errors.ts'
import { memoInstruction } from './instructions.ts'
import { findPaymentCode, notePaymentMemo, recordPaymentSlot } from './payments/store.ts'
import type { Publisher } from './publisher.ts'
import { lostTransaction } from './record-outcome.ts'
import type { AnchorsContext } from './room.ts'

/** A memo with the code of a payment and its transaction. It has no receipt id, as that opens files. */
export async function publishPaymentCode(
  context: AnchorsContext,
  receipt: SignedReceipt,
  attCode: number,
): Promise<void> {
  const { publisher, config } = context
  if (!publisher || !config.anchors.includesPayments) return
  try {
    await publish(context, publisher, receipt, attCode)
  } catch (error) {
    if (!(error instanceof NotPublished) && !(error instanceof ChainUnavailable)) throw error
    throw new ServiceError('anchor_failed', `the code of the payment could not be published: ${error.message}`, {
      hint: 'ask again: what was sent is looked for first',
      cause: error,
    })
  }
}

async function publish(
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
