// Delegations of lockers to the agent, and their logs.

import {
  type DelegateAnswer,
  type Delegation,
  type DelegationList,
  type DelegationSummary,
  endDelegation as end,
  delegate as endpoint,
  type Finding,
  listDelegations,
  readDelegation,
} from '@svc/api/agent/delegations'
import type { Tasks } from '@svc/api/agent/tasks'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { NotSubscribed, UntrueAnswer } from '../errors.ts'
import { journalEntry } from '../journal.ts'
import { lockerOf } from '../lockers.ts'
import { checkFindings, requireContinued } from './findings.ts'

/** Reads the signer's subscription and all delegations, including past ones. */
export async function delegations(context: Context, signal?: AbortSignal): Promise<DelegationList> {
  return (await call(context, listDelegations, { signal })).body
}

/** Reads a delegation with its complete log. The log must be signed, without gaps, and continue the log read before. */
export async function delegation(context: Context, delegation_id: string, signal?: AbortSignal): Promise<Delegation> {
  const log: Finding[] = []
  for (let after = 0; ; ) {
    const { body } = await call(context, readDelegation, { params: { delegation_id }, query: { after }, signal })
    log.push(...body.log)
    // Without this check the log might never end.
    if (log.length > body.findings) throw new UntrueAnswer(`the log has more entries than ${body.findings}`)
    if (body.next_after === undefined) {
      const complete = { ...body, log }
      await requireComplete(context, delegation_id, complete)
      return complete
    }
    const last = body.log.at(-1)?.sequence ?? 0
    if (body.next_after !== last || last <= after)
      throw new UntrueAnswer('the next page of the log does not follow the previous one')
    after = last
  }
}

async function requireComplete(context: Context, delegationId: string, delegation: Delegation): Promise<void> {
  const { log, findings, locker_id } = delegation
  if (delegation.delegation_id !== delegationId) throw new UntrueAnswer('the answer is about another delegation')
  const isOfOthers = log.some((entry) => entry.delegation_id !== delegationId || entry.locker_id !== locker_id)
  if (isOfOthers) throw new UntrueAnswer('the log belongs to another delegation')
  if (log.length < findings) throw new UntrueAnswer(`the log has only ${log.length} of ${findings} entries`)
  await checkFindings(context, log)
  await requireContinued(context, delegationId, log)
}

export interface EndedDelegation extends DelegationSummary {
  /** Whether the key is the one that was delegated to with this journal. Otherwise its owner is unknown. */
  is_known_key: boolean
}

/** Ends a delegation. The owner should then remove the agent's key from the locker's operators. */
export async function endDelegation(
  context: Context,
  delegation_id: string,
  signal?: AbortSignal,
): Promise<EndedDelegation> {
  const { body } = await call(context, end, { params: { delegation_id }, signal })
  const known = await delegatedTo(context, delegation_id).read()
  const isOther = known && (known.receipt_id !== body.receipt_id || known.agent_pubkey !== body.agent_pubkey)
  if (isOther || body.delegation_id !== delegation_id || body.locker_id !== lockerOf(body.receipt_id).locker_id)
    throw new UntrueAnswer('the ended delegation is another one, or has another key')
  return { ...body, is_known_key: known !== null }
}

/**
 * The recorded key and locker of a delegation. Without it, the agent could name any operator when a delegation ends.
 */
function delegatedTo({ journal, baseUrl }: Context, delegationId: string) {
  return journalEntry<Pick<DelegateAnswer, 'receipt_id' | 'agent_pubkey'>>(
    journal,
    `delegation ${baseUrl} ${delegationId}`,
  )
}

/**
 * Delegates the locker of a receipt to the agent, or changes its tasks. The client must sign with the key that
 * paid. The agent can do nothing before its key is registered at the gateway: `addOperator(locker, agent_pubkey)`.
 */
export async function delegate(
  context: Context,
  receiptId: string,
  tasks?: Tasks,
  signal?: AbortSignal,
): Promise<DelegateAnswer> {
  const locker = lockerOf(receiptId)
  const answer = await call(context, endpoint, { body: { ...locker, ...(tasks && { tasks }) }, signal })
  if (answer.status === 402) throw new NotSubscribed(answer.body)
  const { body } = answer
  if (body.receipt_id !== receiptId || body.locker_id !== locker.locker_id)
    throw new UntrueAnswer('the delegation is for another locker')
  if (!ed25519PublicKeyFromBase58(body.agent_pubkey) || body.next_step.body.pubkey !== body.agent_pubkey)
    throw new UntrueAnswer('the delegation does not name exactly one key to register')
  const { receipt_id, agent_pubkey } = body
  await delegatedTo(context, body.delegation_id).update((known) => known ?? { receipt_id, agent_pubkey })
  return body
}
