import { type DelegateAnswer, delegate } from '@svc/api/agent/delegations'
import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import type { Answer, JsonText } from '@svc/http-service/answer'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { isoSeconds } from '@svc/protocol/evidence'
import { lockerId } from '@svc/protocol/ids'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { requireSignedBy } from '../callers/callers.ts'
import { identityOf } from '../callers/identity.ts'
import { limitStranger } from '../callers/limits.ts'
import type { Context } from '../context.ts'
import type { DelegationRow, SubscriptionRow } from '../db/schema.ts'
import { answerQuote } from '../subscriptions/quote.ts'
import { findSubscription } from '../subscriptions/store.ts'
import { isRunning } from '../subscriptions/subscription-view.ts'
import { agentKey, delegationStatus, nextStep, webhookSecret } from './delegation-view.ts'
import { readPayer } from './read-payer.ts'
import { readTasks } from './read-tasks.ts'
import { keepDelegation } from './save-delegation.ts'

type Order = Body<typeof delegate>

/** What an operator may do at the gateway, and all that the agent asks for. */
const AGENT_OPS = ['locker:read', 'locker:write', 'locker:list']

export async function delegateLocker(
  context: Context,
  order: Order,
  wire: WireRequest,
): Promise<DelegateAnswer | Answer<JsonText<SubscriptionQuote>>> {
  requireLockerOfReceipt(order)
  const tasks = order.tasks ? readTasks(order.tasks) : null
  await limitStranger(context, wire)
  const owner = await readPayer(context, order.receipt_id)
  requireNobodyElse(wire, owner)
  requireSameIds(await requireSignedBy(context, wire, owner, delegate.auth.ops), order)
  const subscription = await findSubscription(context.database.db, owner)
  if (!subscription || !isRunning(context, subscription)) return answerQuote(context, {})
  const { receipt_id, locker_id } = order
  const delegation = await keepDelegation(context, { receipt_id, locker_id, tasks, subscription })
  return delegateAnswer(context, delegation, subscription)
}

function delegateAnswer(context: Context, row: DelegationRow, subscription: SubscriptionRow): DelegateAnswer {
  return {
    ok: true,
    delegation_id: row.delegation_id,
    agent_pubkey: agentKey(context, row),
    receipt_id: row.receipt_id,
    locker_id: row.locker_id,
    ops: AGENT_OPS,
    expires_at: isoSeconds(subscription.expires_at),
    status: delegationStatus(context, row, subscription),
    tasks: JSON.parse(row.tasks),
    ...webhookSecret(context, row),
    next_step: nextStep(context, row),
  }
}

function requireLockerOfReceipt({ receipt_id, locker_id }: Order): void {
  if (locker_id !== lockerId(receipt_id)) throw lockerMismatch('locker_id is not the locker of receipt_id')
}

/** The header may be left out: whose locker it is follows from its receipt. */
function requireNobodyElse(wire: WireRequest, owner: string): void {
  if (wire.headers[HEADER_IDENTITY.toLowerCase()] === undefined || identityOf(wire) === owner) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', `${HEADER_IDENTITY} is not who paid for the locker`, {
    hint: 'sign with the wallet that paid for the locker, and name it',
  })
}

function requireSameIds(envelope: RequestEnvelope, order: Order): void {
  const isOther = (id: 'receipt_id' | 'locker_id') => envelope[id] !== '' && envelope[id] !== order[id]
  if (isOther('receipt_id'))
    throw new ServiceError('RECEIPT_ID_MISMATCH', 'the envelope is for another receipt than the body', {
      hint: 'sign the receipt_id that you send, or none',
    })
  if (isOther('locker_id')) throw lockerMismatch('the envelope is for another locker than the body')
}

function lockerMismatch(message: string): ServiceError {
  return new ServiceError('LOCKER_ID_MISMATCH', message, {
    hint: 'a locker_id follows from its receipt_id: send and sign the one that GET /v1/storage/metadata shows',
  })
}
