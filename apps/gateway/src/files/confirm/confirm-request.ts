// The two forms of a confirmation: anyone who knows the receipt may use the query form; the body form is signed
// (FILE-21).

import { requireEnvelopeHeaders } from '@svc/service/http/envelope'
import type { WireRequest } from '@svc/service/http/wire-request'
import { type InvalidInput, ValidationError } from '@svc/service/service-error'
import { type ReceiptCaller, receiptMismatch } from '../../auth/callers.ts'
import { receiptIsRenewal } from '../../auth/errors.ts'
import { limitAnonymous, limitSigner } from '../../auth/limits.ts'
import { findReceiptAndLocker } from '../../auth/store.ts'
import type { Context } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { publicLinkOf } from '../../lockers/public-link.ts'
import { uploadError } from '../errors.ts'

export interface ConfirmRequest<Fields> {
  caller: ReceiptCaller | null
  wire: WireRequest
  query: Partial<Fields>
  body: Partial<Fields>
}

/** Reads each field from the query or the body. */
export function requestedFields<Fields extends object>(
  { caller, wire, query, body }: ConfirmRequest<Fields>,
  ...names: (keyof Fields & string)[]
): Fields {
  const isGiven = (fields: Partial<Fields>) => (name: keyof Fields) => fields[name] !== undefined
  const inBoth = names.filter(isGiven(query)).filter(isGiven(body))
  const differing = inBoth.filter((name) => JSON.stringify(query[name]) !== JSON.stringify(body[name]))
  refuseInputs(differing.map((name) => ({ loc: ['body', name], msg: 'differs from the query' })))
  if (!caller && names.filter(isGiven(body)).length > inBoth.length) requireEnvelopeHeaders(wire)
  const fields = { ...body, ...query }
  const form = caller && names.some(isGiven(body)) ? 'body' : 'query'
  const missing = names.filter((name) => fields[name] === undefined)
  refuseInputs(missing.map((name) => ({ loc: [form, name], msg: 'is required' })))
  return fields as Fields
}

function refuseInputs([first, ...rest]: InvalidInput[]): void {
  if (first) throw new ValidationError(first, ...rest)
}

export interface LockerToConfirm {
  locker: Locker
  /**
   * Whether the caller may read earlier recordings: a receipt id whose public link was closed or rotated may not
   * (T-49).
   */
  mayReadRecorded: boolean
}

/** Applies rate limits before the lookup, so that unauthenticated callers cannot make the gateway work (T-10). */
export async function lockerToConfirm(
  context: Context,
  { caller, wire }: Pick<ConfirmRequest<object>, 'caller' | 'wire'>,
  receiptId: string,
): Promise<LockerToConfirm> {
  if (caller && caller.receipt.receipt_id !== receiptId) {
    throw receiptMismatch('the envelope names a different receipt than the request')
  }
  await (caller ? limitSigner(context, caller.signer) : limitAnonymous(context, wire, receiptId))
  const found = caller ?? (await findReceiptAndLocker(context.database.db, receiptId))
  if (!found) throw receiptNotFound()
  const { locker } = found
  if (locker) return { locker, mayReadRecorded: caller !== null || publicLinkOf(locker).id === receiptId }
  throw found.receipt.extends === undefined ? noLocker() : receiptIsRenewal(found.receipt.extends)
}

function receiptNotFound() {
  return uploadError('receipt_not_found', 'no receipt has this id', {
    layer: 'gateway',
    recovery_hint: 'send the receipt_id from the payment confirmation',
    next_best_method: 'POST /v1/storage/confirm',
  })
}

function noLocker() {
  return uploadError('locker_not_found', 'this receipt has no locker yet', {
    layer: 'gateway',
    recovery_hint: 'open the locker, create the file, upload its bytes, then confirm',
    next_best_method: 'POST /v1/storage/signed_provision',
  })
}
