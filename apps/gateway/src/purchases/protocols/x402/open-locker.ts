// A purchase at this endpoint opens its locker, for the wallet that paid.

import { createFile } from '@svc/api/files'
import { signedProvision } from '@svc/api/lockers'
import type { X402Purchase } from '@svc/api/x402'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { unixNow } from '../../../context.ts'
import type { Note } from '../../../continuity/noted.ts'
import type { Tx } from '../../../db/schema.ts'
import { createLocker, type LockerCreation, tagsOf } from '../../../lockers/create-locker.ts'
import type { PayRequest } from '../../store.ts'
import type { X402Context } from './room.ts'

type Opened = Pick<X402Purchase, 'locker_id' | 'next_step'>

/**
 * Opens the locker of a receipt, or finds it open, so that a buyer who repeats a payment after an interruption finds the
 * same. What was paid stays paid: where the owner has too many lockers, the answer says so.
 */
export async function openLocker(context: X402Context, request: PayRequest, receipt: SignedReceipt): Promise<Opened> {
  const { database, config } = context
  const made = await database.commit((tx, note) => createLockerOf(context, { tx, note }, request, receipt))
  const signed = { method: 'POST' as const, signer: receipt.payer_pubkey, sig_alg: receipt.sig_alg }
  const { baseUrl } = config.http
  if (made.outcome === 'refused') {
    const { path, auth } = signedProvision
    const what = `Open the locker once you may have another: ${made.refusal.message}. The receipt stays good.`
    return { locker_id: null, next_step: { what, ...signed, url: baseUrl + path, ops: [...auth.ops] } }
  }
  const { locker_id } = made.locker
  if (made.outcome === 'existing') await context.continuity.requireWritten({ kind: 'locker', key: locker_id })
  const url = baseUrl + createFile.path.replace('{locker_id}', locker_id)
  const what =
    'Store a file: name it with {"filename": …} in a request that the wallet that paid has signed, then PUT its bytes to upload_url.'
  return { locker_id, next_step: { what, ...signed, url, ops: [...createFile.auth.ops] } }
}

function createLockerOf(
  context: X402Context,
  { tx, note }: { tx: Tx; note: Note },
  request: PayRequest,
  receipt: SignedReceipt,
): Promise<LockerCreation> {
  const { maxLockersPerOwner: maxPerOwner } = context.config.payments
  const order = { receipt, request, tags: tagsOf(request.quote), createdAt: unixNow(context), maxPerOwner }
  return createLocker(tx, note, order)
}
