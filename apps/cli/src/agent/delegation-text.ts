import type { Delegation, DelegationStatus, DelegationSummary, Finding, Run } from '@svc/api/agent/delegations'
import type { Subscription } from '@svc/api/agent/subscriptions'
import { counted, timeText } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import type { Style } from '../output/style.ts'
import { pairs, table } from '../output/table.ts'
import { taskNames, tasksText } from './tasks.ts'

const NEWEST = 10

/** The delegation with its newest runs and findings. `trust` is the reason why the signing key is trusted. */
export function delegationText(delegation: Delegation, trust: string, style: Style): string {
  const { runs, log } = delegation
  return [
    aboutText(delegation, trust),
    ...(runs.length > 0 ? [runsText(runs.slice(0, NEWEST))] : []),
    ...(log.length > 0 ? [findingsText(log.slice(-NEWEST), style)] : []),
  ].join('\n\n')
}

const MEANINGS: Record<DelegationStatus, string> = {
  pending: 'the gateway does not accept its key yet: `svc delegate` registers it',
  active: 'at work',
  paused: 'the subscription has expired: `svc subscribe`',
  revoked: 'the gateway no longer accepts its key: `svc delegate` starts again',
  ended: 'the agent no longer works on it',
}

function aboutText(delegation: Delegation, trust: string): string {
  const { delegation_id, locker_id, receipt_id, status, agent_pubkey, tasks, created_at, next_runs } = delegation
  return pairs([
    ['delegation', shown(`${delegation_id}, since ${timeText(created_at)}`)],
    ['locker', shown(`${locker_id} (${receipt_id})`)],
    ['status', `${shown(status)}: ${MEANINGS[status]}`],
    ['agent key', shown(agent_pubkey)],
    ['tasks', shown(tasksText(tasks))],
    ...(tasks.mirror?.sources ?? []).map(({ url, filename }) => ['', shown(`${filename} from ${url}`)] as const),
    ...Object.entries(next_runs).map(([task, at]) => ['next run', shown(`${task}, ${timeText(at)}`)] as const),
    ...(delegation.told ? [['delivery', deliveryText(delegation.told)] as const] : []),
    ['log', logText(delegation, trust)],
  ])
}

function deliveryText({ delivered, undelivered, last_error }: NonNullable<Delegation['told']>): string {
  const why = last_error === null ? '' : shown(`: ${last_error}`)
  return `${counted(delivered, 'finding')} delivered${undelivered === 0 ? '' : `, ${undelivered} not${why}`}`
}

function logText({ log }: Delegation, trust: string): string {
  const [first] = log
  if (!first) return 'nothing yet'
  const count = `${counted(log.length, 'finding')}, ${counted(log.filter(isAlert).length, 'alert')}`
  return `${count}; none is missing, each is signed by ${first.signer_pubkey} (${trust})`
}

function runsText(runs: readonly Run[]): string {
  const columns = ['RUN', 'TASK', 'OUTCOME', 'WHAT'].map((title) => ({ title }))
  const rows = runs.map(({ started_at, task, outcome, summary }) => [
    timeText(shown(started_at)),
    shown(task),
    shown(outcome),
    detailText(summary),
  ])
  return table(columns, rows)
}

export function findingsText(log: readonly Finding[], style: Style): string {
  const columns = [{ title: 'NO', isRight: true }, ...['FOUND', 'KIND', 'DETAIL'].map((title) => ({ title }))]
  const rows = log.map((finding) => [
    String(finding.sequence),
    timeText(shown(finding.at)),
    isAlert(finding) ? style.bad(shown(`! ${finding.kind}`)) : shown(finding.kind),
    detailText(finding.detail),
  ])
  return table(columns, rows)
}

function isAlert({ severity }: Finding): boolean {
  return severity === 'alert'
}

/** `filename a.txt, bytes 12` */
function detailText(detail: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(detail).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return shown(words.join(', '))
}

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
  const until = timeText(shown(subscription.expires_at))
  return subscription.status === 'active' ? `until ${until}` : `expired ${until}: \`svc subscribe\``
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

/** The time of the task that is due first. */
function nextRunText(nextRuns: DelegationSummary['next_runs']): string {
  const [first = null] = Object.values(nextRuns).sort()
  return timeText(first && shown(first))
}
