import { operatorTag } from '@svc/api/locker-names'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { requireWritable } from '../auth/restrictions.ts'
import type { Context } from '../context.ts'
import type { RecordAccess } from '../continuity/access-changes.ts'
import type { Locker, Tx } from '../db/schema.ts'
import { epochsOf } from './access.ts'
import { indexOperator, lockLocker, unindexOperator, updateLocker } from './store.ts'

/** The signature of a request may be checked with the key of every operator. */
const MAX_OPERATORS = 32

export async function addOperator({ continuity }: Context, { locker_id }: Locker, pubkey: string) {
  requireOperatorKey(pubkey, 'pubkey')
  const { operators, added } = await continuity.changeAccess((tx, record) =>
    addOperatorTo(tx, record, locker_id, pubkey),
  )
  return { ok: true, locker_id, pubkey, operators, added } as const
}

/** Ends the URLs, shares and sessions that the key requested, even if the key is added again later. */
export async function removeOperator({ continuity }: Context, of: Locker, pubkey: string) {
  const { locker_id } = of
  const operators = await continuity.changeAccess(async (tx, record) => {
    const locker = await lockLocker(tx, locker_id)
    if (!operatorsOf(locker).includes(pubkey)) throw notRegistered()
    const epoch = locker.access_epoch + 1
    await record({ what: 'operator', locker: locker_id, operator: pubkey, epoch })
    return removeOperatorFrom(tx, locker, { pubkey, epoch })
  })
  return { ok: true, locker_id, pubkey, operators, removed: true } as const
}

/** `epoch`: the new epoch of the locker. The caller holds its lock. */
export async function removeOperatorFrom(
  tx: Tx,
  locker: Locker,
  { pubkey, epoch }: { pubkey: string; epoch: number },
): Promise<string[]> {
  const operators = operatorsOf(locker).filter((operator) => operator !== pubkey)
  const { [pubkey]: _, ...epochs } = epochsOf(locker)
  const tags = (JSON.parse(locker.tags) as string[]).filter((tag) => !tag.startsWith(operatorTag(pubkey)))
  await updateLocker(tx, locker.locker_id, {
    operators: JSON.stringify(operators),
    operator_epochs: JSON.stringify(epochs),
    access_epoch: epoch,
    tags: JSON.stringify(tags),
  })
  await unindexOperator(tx, pubkey, locker.receipt_id)
  return operators
}

/** Also rejects weak keys, for which anyone can forge signatures (ADD-04). */
export function requireOperatorKey(pubkey: string, field: string): void {
  if (ed25519PublicKeyFromBase58(pubkey)) return
  throw new ValidationError({ loc: ['body', field], msg: 'must be an Ed25519 public key, 32 bytes in base58' })
}

/** Locks the locker until the transaction ends. */
export async function addOperatorTo(tx: Tx, record: RecordAccess, lockerId: string, pubkey: string) {
  const locker = await lockLocker(tx, lockerId)
  requireWritable(locker)
  const previous = operatorsOf(locker)
  if (!previous.includes(pubkey) && previous.length >= MAX_OPERATORS) throw tooMany()
  const operators = await putOperator(tx, locker, pubkey)
  const added = operators.length > previous.length
  if (added) await record({ what: 'operator_added', locker: lockerId, operator: pubkey })
  return { operators, added }
}

/** The caller holds the lock of the locker. Returns all operators. */
export async function putOperator(tx: Tx, locker: Locker, pubkey: string): Promise<string[]> {
  const previous = operatorsOf(locker)
  await indexOperator(tx, pubkey, locker.receipt_id)
  if (previous.includes(pubkey)) return previous
  const operators = [...previous, pubkey]
  const epoch = locker.access_epoch > 0 && { [pubkey]: locker.access_epoch }
  await updateLocker(tx, locker.locker_id, {
    operators: JSON.stringify(operators),
    operator_epochs: JSON.stringify({ ...epochsOf(locker), ...epoch }),
  })
  return operators
}

export function operatorsOf({ operators }: Locker): string[] {
  return JSON.parse(operators)
}

function tooMany(): ServiceError {
  return new ServiceError('OPERATOR_LIMIT_EXCEEDED', `a locker is limited to ${MAX_OPERATORS} operators`, {
    hint: 'remove one first',
    details: { limit: MAX_OPERATORS },
  })
}

export function notRegistered(): ServiceError {
  return new ServiceError('OPERATOR_NOT_FOUND', 'this key is not registered on the locker', {
    hint: 'GET /v1/lockers/{locker_id}/record lists the registered operators',
  })
}
