import type { DelegationSummary } from '@svc/api/agent/delegations'
import type { Subscription } from '@svc/api/agent/subscriptions'
import { timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { pairs, table } from '../output/table.ts'
import { taskNames } from './tasks-text.ts'

export function listText(
  address: string,
  subscription: Subscription | null,
  delegations: readonly DelegationSummary[],
): string {
  const head = pairs([
    ['wallet', address],
    ['subscription', subscriptionText(subscription)],
  ])
  return delegations.length === 0 ? head : `${head}\n\n${rowsText(delegations)}`
}

function subscriptionText(subscription: Subscription | null): string {
  if (!subscription) return 'none: `svc subscribe`'
  const until = `${timeText(shown(subscription.expires_at))} UTC`
  return subscription.status === 'active' ? `until ${until}` : `over since ${until}: \`svc subscribe\``
}

function rowsText(delegations: readonly DelegationSummary[]): string {
  const columns = [
    { title: 'DELEGATION' },
    { title: 'LOCKER' },
    { title: 'STATUS' },
    { title: 'TASKS' },
    { title: 'FINDINGS', isRight: true },
    { title: 'ALERTS', isRight: true },
    { title: 'NEXT RUN' },
  ]
  const rows = delegations.map(({ delegation_id, locker_id, status, tasks, findings, alerts, next_runs }) => [
    shown(delegation_id),
    shown(locker_id),
    shown(status),
    taskNames(tasks),
    String(findings),
    String(alerts),
    nextRunText(next_runs),
  ])
  return table(columns, rows)
}

/** Of the task that is due first. */
function nextRunText(nextRuns: DelegationSummary['next_runs']): string {
  const [first = null] = Object.values(nextRuns).sort()
  return timeText(first && shown(first))
}
