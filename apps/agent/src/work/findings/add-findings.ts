import type { FindingKind } from '@svc/api/agent/delegations'
import type { Tasks } from '@svc/api/agent/tasks'
import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Finding, type SignedFinding, signFinding } from '@svc/protocol/finding'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { lockSubscribed, type SubscribedDelegation } from '../runs/store.ts'
import { insertDeliveries, insertFindings, setLogEnd } from './store.ts'

export interface NewFinding {
  kind: FindingKind
  detail: Finding['detail']
}

const ALERTS: readonly FindingKind[] = [
  'bytes_differ',
  'bytes_missing',
  'statement_untrue',
  'statement_lost',
  'statement_rewritten',
  'mirror_failed',
]

/**
 * Appends to the log of a delegation, where each entry is signed and contains the digest of the previous one, and
 * enqueues webhooks.
 */
export async function addFindings(
  context: Context,
  tx: Tx,
  delegationId: string,
  newFindings: readonly NewFinding[],
): Promise<void> {
  if (newFindings.length === 0) return
  const delegation = await lockSubscribed(tx, delegationId)
  const findings = signFindings(context, delegation, newFindings)
  await insertFindings(tx, findings)
  await setLogEnd(tx, {
    delegation_id: delegationId,
    finding_count: delegation.finding_count + findings.length,
    alert_count: delegation.alert_count + findings.filter(isAlert).length,
    last_digest: (findings.at(-1) as SignedFinding).digest,
  })
  await enqueueWebhooks(context, tx, delegation, findings)
}

function signFindings(
  context: Context,
  delegation: SubscribedDelegation,
  newFindings: readonly NewFinding[],
): SignedFinding[] {
  const { delegation_id, locker_id, finding_count } = delegation
  const at = isoSeconds(unixNow(context))
  let previous_digest = delegation.last_digest
  return newFindings.map(({ kind, detail }, i) => {
    const severity = ALERTS.includes(kind) ? 'alert' : 'info'
    const sequence = finding_count + i + 1
    const entry = { delegation_id, locker_id, sequence, at, kind, severity, detail, previous_digest } as const
    const signed = signFinding(entry, context.signer)
    previous_digest = signed.digest
    return signed
  })
}

function isAlert({ severity }: SignedFinding): boolean {
  return severity === 'alert'
}

async function enqueueWebhooks(
  context: Context,
  tx: Tx,
  { delegation_id, tasks }: SubscribedDelegation,
  findings: readonly SignedFinding[],
): Promise<void> {
  const { tell } = JSON.parse(tasks) as Tasks
  const reported = tell?.only_alerts ? findings.filter(isAlert) : findings
  if (!tell || reported.length === 0) return
  const created_at = unixNow(context)
  const deliveries = reported.map(({ sequence }) => ({
    delivery_id: `msg_${toHex(context.randomBytes(16))}`,
    delegation_id,
    sequence,
    url: tell.url,
    created_at,
    delivered_at: null,
    error: null,
  }))
  await insertDeliveries(tx, deliveries)
  for (const { delivery_id } of deliveries) await context.queue.enqueue(tx, 'tell', { delivery_id })
}
