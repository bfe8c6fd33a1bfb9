import type { Body } from '@svc/api/endpoint'
import type { FileEntry } from '@svc/api/file-entries'
import type { ProvisionManifest, signedProvision } from '@svc/api/lockers'
import { type ReceiptCaller, receiptMismatch } from '../../auth/callers.ts'
import { receiptNotFound } from '../../auth/errors.ts'
import { type Context, unixNow } from '../../context.ts'
import { recorder } from '../../continuity/access-changes.ts'
import type { Locker } from '../../db/schema.ts'
import { firstFiles } from '../../files/lists/list-files.ts'
import { createLocker, tagsOf } from '../../lockers/create-locker.ts'
import { lockerRecord } from '../../lockers/locker-record.ts'
import { addOperatorTo, requireOperatorKey } from '../../lockers/operators.ts'
import { findPurchase } from '../../lockers/store.ts'

type Order = Body<typeof signedProvision>

/**
 * Opens the locker of a receipt. The caller is its payer, or null for anyone at a development gateway that allows it.
 */
export async function provision(
  context: Context,
  caller: ReceiptCaller | null,
  order: Order,
): Promise<ProvisionManifest> {
  if (caller && order.receipt_id !== caller.receipt.receipt_id) {
    throw receiptMismatch('the envelope names a different receipt than the body')
  }
  if (order.operator_pubkey !== undefined) requireOperatorKey(order.operator_pubkey, 'operator_pubkey')
  // The journal must have the receipt before its locker.
  await context.continuity.requireWritten({ kind: 'receipt', key: order.receipt_id })
  const { locker, isNew } = await openLocker(context, order, caller !== null)
  if (!isNew) await context.continuity.requireWritten({ kind: 'locker', key: locker.locker_id })
  return manifest(locker, isNew, isNew ? [] : await firstFiles(context, locker))
}

async function openLocker(
  context: Context,
  order: Order,
  isOwner: boolean,
): Promise<{ locker: Locker; isNew: boolean }> {
  return context.database.commit(async (tx, recordDocuments) => {
    const purchase = await findPurchase(tx, order.receipt_id)
    if (!purchase) throw receiptNotFound()
    const made = await createLocker(tx, recordDocuments, {
      receipt: purchase.receipt,
      request: purchase,
      tags: order.tags ?? tagsOf(purchase.quote),
      createdAt: unixNow(context),
      maxPerOwner: context.config.payments.maxLockersPerOwner,
    })
    if (made.outcome === 'refused') throw made.refusal
    const { locker } = made
    const isNew = made.outcome === 'created'
    // A caller without a signature must not add an operator to an existing locker.
    if (order.operator_pubkey === undefined || !(isNew || isOwner)) return { locker, isNew }
    const record = recorder(tx, recordDocuments, unixNow(context))
    const { operators } = await addOperatorTo(tx, record, locker.locker_id, order.operator_pubkey)
    return { locker: { ...locker, operators: JSON.stringify(operators) }, isNew }
  })
}

function manifest(locker: Locker, isNew: boolean, files: FileEntry[]): ProvisionManifest {
  const { receipt_id, space, owner, operators, tags, provider, terms, created_at, expires_at } = lockerRecord(locker)
  return {
    ok: true,
    receipt_id,
    already_provisioned: !isNew,
    space,
    owner,
    operators,
    tags,
    provider,
    terms,
    files,
    created_at,
    expires_at,
  }
}
