import { ServiceError } from '@svc/http-service/service-error'
import { paymentAttCode } from '@svc/protocol/ids'
import { findReceiptAndLocker } from '../../auth/store.ts'
import { unixNow } from '../../context.ts'
import { publishPaymentCode } from '../attest-payment.ts'
import type { AnchorsContext } from '../room.ts'
import { recordPaymentCode } from './store.ts'

/** Records the code of a payment once, and publishes it where that is enabled. */
export async function attestPayment(context: AnchorsContext, receipt_id: string) {
  const { db } = context.database
  const found = await findReceiptAndLocker(db, receipt_id)
  if (!found) throw new ServiceError('receipt_not_found', 'there is no receipt with this id')
  const att_code = paymentAttCode(found.receipt)
  await recordPaymentCode(db, { receipt_id, att_code, recorded_at: unixNow(context) })
  await publishPaymentCode(context, found.receipt, att_code)
  return { ok: true as const, receipt_id, att_code, recorded: true }
}
