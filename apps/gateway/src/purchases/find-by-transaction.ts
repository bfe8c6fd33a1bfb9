import { ServiceError } from '@svc/http-service/service-error'
import { canonicalTx } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { findReceiptsOfTransaction } from './store.ts'

/** Never public: whoever knows a receipt's id can read the files (ADD-08). */
export async function findByTransaction({ database }: Context, tx: string): Promise<{ receipts: SignedReceipt[] }> {
  const receipts = await findReceiptsOfTransaction(database.db, canonicalTx(tx))
  if (receipts.length === 0) throw new ServiceError('receipt_not_found', 'no receipt names this transaction')
  return { receipts }
}
