import { ServiceError } from '@svc/http-service/service-error'
import { lockerNotFound } from '../auth/callers.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import type { Context } from '../context.ts'
import type { Attest } from './attest.ts'
import type { Attested } from './record.ts'
import { findAttestation } from './store.ts'

/** For callers that know no more than a receipt's id. `force`: a new statement also when nothing has changed. */
export async function attestReceipt(
  context: Pick<Context, 'database'> & { attest: Attest },
  receiptId: string,
  { force = false, publish = false }: { force?: boolean; publish?: boolean } = {},
): Promise<Attested> {
  const { db } = context.database
  const found = await findReceiptAndLocker(db, receiptId)
  if (!found) throw new ServiceError('receipt_not_found', 'there is no receipt with this id')
  if (!found.locker) throw lockerNotFound()
  const known = force ? await findAttestation(db, receiptId) : null
  return context.attest(found.locker, { replacing: known?.sequence ?? undefined, publish })
}
