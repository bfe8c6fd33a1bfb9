import { type DelegateAnswer, delegate } from '@svc/api/agent/delegations'
import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Tasks } from '@svc/api/agent/tasks'
import type { Body } from '@svc/api/endpoint'
import { isoSeconds } from '@svc/protocol/evidence'
import { lockerId } from '@svc/protocol/ids'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { isGatewayError } from '@svc/sdk/errors'
import type { Answer, JsonText } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Callers } from '../callers/callers.ts'
import { identityOf } from '../callers/identity.ts'
import type { Context } from '../context.ts'
import type { DelegationRow, SubscriptionRow } from '../db/schema.ts'
import { gatewayUnavailable } from '../gateway/gateway-link.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { agentKey, delegationStatus, nextStep, webhookSecret } from './delegation-view.ts'
import { readTasks, requirePublicTargets } from './read-tasks.ts'
import { saveDelegation } from './save-delegation.ts'

export type DelegateBody = Body<typeof delegate>

/** All permissions of an operator at the gateway, and the only ones that the agent requests. */
const AGENT_OPS = ['locker:read', 'locker:write', 'locker:list']

export async function delegateLocker(
  context: Context,
  { callers, subscriptions }: { callers: Callers; subscriptions: Subscriptions },
  body: DelegateBody,
  wire: WireRequest,
): Promise<DelegateAnswer | Answer<JsonText<SubscriptionQuote>>> {
  requireLockerOfReceipt(body)
  const tasks = body.tasks ? readTasks(body.tasks) : null
  const owner = await readPayer(context, body.receipt_id)
  requireOwnerInHeader(wire, owner)
  requireSameIds(await callers.requireSignedBy(wire, owner, delegate.auth.ops), body)
  const subscription = await subscriptions.findActive(owner)
  if (!subscription) return subscriptions.quote({})
  if (tasks?.mirror || tasks?.tell) await checkTargets(context, owner, tasks)
  const { receipt_id, locker_id } = body
  const delegation = await saveDelegation(context, { receipt_id, locker_id, tasks, subscription })
  return delegateAnswer(context, delegation, subscription)
}

/** Concurrent checks per owner, who chooses the host names to resolve. */
const MAX_CHECKS = 4

async function checkTargets(context: Context, owner: string, tasks: Tasks): Promise<void> {
  await context.withSlot(`lookups ${owner}`, MAX_CHECKS, (isFree) => {
    if (isFree) return requirePublicTargets(context, tasks)
    throw new ServiceError('RATE_LIMITED', 'the addresses in your other delegations are still being checked', {
      hint: 'try again in 5 s',
      headers: { 'retry-after': '5' },
    })
  })
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

/** Any other text is not a receipt id, so the gateway need not be queried. */
const RECEIPT_ID = /^[\w-]{1,128}$/

/** A caller is waiting for the answer. */
const READ_PAYER_TIMEOUT_MS = 10_000

/** The payer of a receipt owns its locker. The receipt is signed by the gateway. */
async function readPayer({ gateway, log }: Context, receiptId: string): Promise<string> {
  if (!RECEIPT_ID.test(receiptId)) throw receiptNotFound()
  try {
    const signal = AbortSignal.timeout(READ_PAYER_TIMEOUT_MS)
    return (await gateway.client().receipt(receiptId, { signal })).payer_pubkey
  } catch (error) {
    if (isGatewayError(error, 'receipt_not_found')) throw receiptNotFound()
    log.warn({ err: error }, 'cannot read the payer of a receipt from the gateway')
    throw gatewayUnavailable(error)
  }
}

function receiptNotFound(): ServiceError {
  return new ServiceError('receipt_not_found', 'the gateway has no receipt with this id', {
    hint: 'use a receipt of the gateway that this service works for: see gateway_url in /.well-known/svc-agent.json',
  })
}

function requireLockerOfReceipt({ receipt_id, locker_id }: DelegateBody): void {
  if (locker_id !== lockerId(receipt_id)) throw lockerMismatch('locker_id is not the locker of receipt_id')
}

/** The header is optional here, because the receipt determines the owner. */
function requireOwnerInHeader(wire: WireRequest, owner: string): void {
  if (wire.headers[HEADER_IDENTITY.toLowerCase()] === undefined || identityOf(wire) === owner) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', `${HEADER_IDENTITY} is not the wallet that paid for the locker`, {
    hint: 'sign with the wallet that paid for the locker, and send its address',
  })
}

function requireSameIds(envelope: RequestEnvelope, body: DelegateBody): void {
  const differs = (id: 'receipt_id' | 'locker_id') => envelope[id] !== '' && envelope[id] !== body[id]
  if (differs('receipt_id'))
    throw new ServiceError('RECEIPT_ID_MISMATCH', 'the envelope names a different receipt than the body', {
      hint: 'sign the receipt_id of the request, or none',
    })
  if (differs('locker_id')) throw lockerMismatch('the envelope names a different locker than the body')
}

function lockerMismatch(message: string): ServiceError {
  return new ServiceError('LOCKER_ID_MISMATCH', message, {
    hint: 'a locker_id is derived from its receipt_id: send and sign the one in GET /v1/storage/metadata',
  })
}
