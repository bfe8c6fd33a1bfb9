// What a locker is, and who may act for its owner.

import { addOperator as add, type LockerMetadata, lockerMetadata, removeOperator as take } from '@svc/api/lockers'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { isGatewayError } from '../errors.ts'
import type { Locker } from './locker.ts'

export async function metadata(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<LockerMetadata> {
  return (await call(context, lockerMetadata, { params: { locker_id }, signal })).body
}

/** Lets an Ed25519 key (base58) read, write and list; all operators there are then. */
export async function addOperator(context: Context, { locker_id }: Locker, pubkey: string): Promise<string[]> {
  return (await call(context, add, { params: { locker_id }, body: { pubkey } })).body.operators
}

/** Takes that back, at once. */
export async function removeOperator(context: Context, { locker_id }: Locker, pubkey: string): Promise<void> {
  try {
    await call(context, take, { params: { locker_id, pubkey } })
  } catch (error) {
    // Of an attempt whose answer got lost.
    if (!isGatewayError(error, 'OPERATOR_NOT_FOUND') || error.attempts === 1) throw error
  }
}
