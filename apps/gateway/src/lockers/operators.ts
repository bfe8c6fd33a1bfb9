import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import type { Transaction } from 'kysely'
import { lockerNotFound } from '../auth/callers.ts'
import type { Context } from '../context.ts'
import type { Locker, Schema } from '../db/schema.ts'
import { lockLocker, setOperators } from './store.ts'

/** A request may be checked against the key of each operator. */
const MAX_OPERATORS = 32

export async function addOperator({ database }: Context, { locker_id }: Locker, pubkey: string) {
  requireOperatorKey(pubkey, 'pubkey')
  const { operators, added } = await database.db.transaction().execute((tx) => addOperatorTo(tx, locker_id, pubkey))
  return { ok: true, locker_id, pubkey, operators, added } as const
}

export async function removeOperator({ database }: Context, { locker_id }: Locker, pubkey: string) {
  const operators = await database.db.transaction().execute(async (tx) => {
    const before = await operatorsOf(tx, locker_id)
    if (!before.includes(pubkey)) throw notRegistered()
    const after = before.filter((operator) => operator !== pubkey)
    await setOperators(tx, locker_id, JSON.stringify(after))
    return after
  })
  return { ok: true, locker_id, pubkey, operators, removed: true } as const
}

/** Refuses weak keys too, under which anybody could sign (ADD-04). */
export function requireOperatorKey(pubkey: string, field: string): void {
  if (ed25519PublicKeyFromBase58(pubkey)) return
  throw new ValidationError({ loc: ['body', field], msg: 'must be an Ed25519 public key, 32 bytes in base58' })
}

/** Locks the locker until the transaction ends. */
export async function addOperatorTo(tx: Transaction<Schema>, lockerId: string, pubkey: string) {
  const before = await operatorsOf(tx, lockerId)
  if (before.includes(pubkey)) return { operators: before, added: false }
  if (before.length >= MAX_OPERATORS) throw tooMany()
  const operators = [...before, pubkey]
  await setOperators(tx, lockerId, JSON.stringify(operators))
  return { operators, added: true }
}

async function operatorsOf(tx: Transaction<Schema>, lockerId: string): Promise<string[]> {
  const locker = await lockLocker(tx, lockerId)
  if (!locker) throw lockerNotFound()
  return JSON.parse(locker.operators)
}

function tooMany(): ServiceError {
  return new ServiceError('OPERATOR_LIMIT_EXCEEDED', `a locker may have ${MAX_OPERATORS} operators`, {
    hint: 'remove one first',
    details: { limit: MAX_OPERATORS },
  })
}

function notRegistered(): ServiceError {
  return new ServiceError('OPERATOR_NOT_FOUND', 'this key is not registered on the locker', {
    hint: 'GET /v1/lockers/{locker_id}/record lists those that are',
  })
}
