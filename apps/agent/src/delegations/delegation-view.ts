import type { DelegateAnswer, DelegationStatus, DelegationSummary } from '@svc/api/agent/delegations'
import type { Tasks } from '@svc/api/agent/tasks'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Context } from '../context.ts'
import type { DelegationRow, SubscriptionRow } from '../db/schema.ts'
import { isActive } from '../subscriptions/subscription-view.ts'

type Viewer = Pick<Context, 'config' | 'delegationKeys' | 'now'>

export function delegationSummary(
  context: Viewer,
  row: DelegationRow,
  subscription: SubscriptionRow | null,
): DelegationSummary {
  const { delegation_id, receipt_id, locker_id } = row
  const status = delegationStatus(context, row, subscription)
  return {
    delegation_id,
    receipt_id,
    locker_id,
    agent_pubkey: agentKey(context, row),
    status,
    tasks: JSON.parse(row.tasks),
    created_at: isoSeconds(row.created_at),
    registered_at: isoOrNull(row.registered_at),
    ended_at: isoOrNull(row.ended_at),
    findings: row.finding_count,
    alerts: row.alert_count,
    next_runs: status === 'active' ? nextRuns(row) : {},
  }
}

function nextRuns({ mirror_at, watch_at }: DelegationRow): DelegationSummary['next_runs'] {
  return {
    ...(mirror_at !== null && { mirror: isoSeconds(mirror_at) }),
    ...(watch_at !== null && { watch: isoSeconds(watch_at) }),
  }
}

/** An open delegation is paused while the owner has no active subscription. */
export function delegationStatus(
  context: Viewer,
  { state }: DelegationRow,
  subscription: SubscriptionRow | null,
): DelegationStatus {
  if (state === 'revoked' || state === 'ended') return state
  return subscription && isActive(context, subscription) ? state : 'paused'
}

/** The request by which the owner registers the agent's key at the gateway. */
export function nextStep(context: Viewer, row: DelegationRow): DelegateAnswer['next_step'] {
  const url = `${context.config.gateway.url}/v1/lockers/${row.locker_id}/operators`
  return { method: 'POST', url, body: { pubkey: agentKey(context, row) } }
}

export function webhookSecret(
  { delegationKeys }: Viewer,
  { delegation_id, tasks }: DelegationRow,
): { webhook_secret?: string } {
  const { tell }: Tasks = JSON.parse(tasks)
  return tell ? { webhook_secret: delegationKeys.webhookSecretOf(delegation_id, tell.url) } : {}
}

export function agentKey({ delegationKeys }: Viewer, { delegation_id }: DelegationRow): string {
  return delegationKeys.signerOf(delegation_id).address
}

export function isoOrNull(seconds: number | null): string | null {
  return seconds === null ? null : isoSeconds(seconds)
}
