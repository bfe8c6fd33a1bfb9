import type { FindingKind } from '@svc/api/agent/delegations'
import type { Tasks } from '@svc/api/agent/tasks'
import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Finding, type SignedFinding, signFinding } from '@svc/protocol/finding'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../../context.ts'
import type { Schema } from '../../db/schema.ts'
import { insertFindings, lockWorkplace, setLogEnd, type Workplace } from '../runs/store.ts'
import { insertDeliveries } from './store.ts'

/** What is to be a finding. */
export interface News {
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

/** Appends to the log of a delegation, each entry signed and naming the one before, and has them told. */
export async function addFindings(
  context: Context,
  tx: Transaction<Schema>,
  delegationId: string,
  news: readonly News[],
): Promise<void> {
  if (news.length === 0) return
  const workplace = await lockWorkplace(tx, delegationId)
  const findings = signedAfter(context, workplace, news)
  await insertFindings(tx, findings)
  await setLogEnd(tx, {
    delegation_id: delegationId,
    finding_count: workplace.finding_count + findings.length,
    alert_count: workplace.alert_count + findings.filter(isAlert).length,
    last_digest: (findings.at(-1) as SignedFinding).digest,
  })
  await haveTold(context, tx, workplace, findings)
}

function signedAfter(context: Context, workplace: Workplace, news: readonly News[]): SignedFinding[] {
  const { delegation_id, locker_id, finding_count } = workplace
  const at = isoSeconds(unixNow(context))
  let previous_digest = workplace.last_digest
  return news.map(({ kind, detail }, i) => {
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

async function haveTold(
  context: Context,
  tx: Transaction<Schema>,
  { delegation_id, tasks }: Workplace,
  findings: readonly SignedFinding[],
): Promise<void> {
  const { tell } = JSON.parse(tasks) as Tasks
  const told = tell?.only_alerts ? findings.filter(isAlert) : findings
  if (!tell || told.length === 0) return
  const created_at = unixNow(context)
  const deliveries = told.map(({ sequence }) => ({
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
