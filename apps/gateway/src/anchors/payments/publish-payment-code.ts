import { ServiceError } from '@svc/http-service/service-error'
import { canonicalBytes } from '@svc/protocol/canonical'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { memoInstruction } from '../instructions.ts'
import { ChainUnavailable } from '../publication-nodes.ts'
import type { Publisher } from '../publisher.ts'
import { NotPublished } from '../push-errors.ts'
import type { AnchorsContext } from '../room.ts'
import { lost, watchTransaction } from '../settle.ts'
import { findPaymentCode, notePaymentMemo, recordPaymentSlot } from './store.ts'

/**
 * A memo with the code of a payment and the transaction that made it; no receipt id, which opens files. Noted before it
 * is sent, like statements, so that a payment has one, whatever is cut off in between.
 */
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
  for (let sends = 0; ; sends++) {
    const { tx, raw, last_valid_height, slot } = await findPaymentCode(db, receipt_id)
    if (slot !== null) return
    if (tx !== null && raw !== null && last_valid_height !== null) {
      const fate = await watchTransaction(publisher.nodes, { tx, raw, last_valid_height }, config.anchors.waitSeconds)
      if (fate.is === 'landed') return recordPaymentSlot(db, receipt_id, fate.slot)
      if (fate.is === 'unknown') throw new NotPublished('outcome_unknown', tx, { tx, isAmbiguous: true })
      if (sends > 0) throw lost({ tx }, fate)
    }
    const signed = await publisher.prepare([memoInstruction(memo, config.anchors.memoProgram, publisher.signer)])
    const sent = { tx: signed.tx, raw: signed.raw, last_valid_height: signed.lastValidHeight }
    if (await notePaymentMemo(db, receipt_id, tx, sent)) await publisher.nodes.send(signed.raw)
  }
}
