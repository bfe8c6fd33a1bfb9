import { DelegationList, DelegationSummary, Finding } from '@svc/api/agent/delegations'
import type { AgentClient } from '@svc/sdk'
import { GatewayError } from '@svc/sdk/errors'
import Type, { type Static } from 'typebox'
import { requireAgent, requireOwner } from '../context.ts'
import { counted } from '../server/readable.ts'
import { DATA, DelegationId, type Outcome, READS, STRICT, tool } from './tool.ts'

const NEWEST = 50

const Status = Type.Object({
  ...DelegationList.properties,
  thirty_days_cost: Type.Array(Type.Object({ network: Type.String(), asset: Type.String(), amount: Type.String() }), {
    description: 'The price in each accepted asset; empty if it is not sold at the moment.',
  }),
  log: Type.Array(Finding, {
    description: `With delegation_id: its newest findings, at most ${NEWEST}, oldest first.`,
  }),
})

export const agentStatus = tool({
  name: 'agent_status',
  title: 'Status and findings of the agent service',
  description:
    'Shows until when the agent service is paid, what thirty days cost, and its delegations; with `delegation_id` also ' +
    'its findings there, a log whose signatures and continuity are checked here. Tell the user about each `alert`. ' +
    `Free. ${DATA}`,
  annotations: READS,
  input: Type.Object({ delegation_id: Type.Optional(DelegationId) }, STRICT),
  output: Status,
  async run(context, { delegation_id }, { signal }) {
    requireOwner(context)
    const { agent } = requireAgent(context)
    const { subscription, delegations } = await agent.delegations(signal)
    const all = { subscription, delegations, thirty_days_cost: await priceOf(agent, signal), log: [] }
    return delegation_id === undefined ? { text: statusText(all), data: all } : one(agent, delegation_id, all, signal)
  },
})

type StatusData = Static<typeof Status>

/** Empty if the service refuses to quote: the rest of the status is still useful. */
async function priceOf(agent: AgentClient, signal: AbortSignal): Promise<StatusData['thirty_days_cost']> {
  try {
    const { accepts } = await agent.quote(signal)
    return accepts.map(({ network, extra }) => ({ network, asset: extra.name, amount: extra.human_amount }))
  } catch (error) {
    if (error instanceof GatewayError) return []
    throw error
  }
}

async function one(agent: AgentClient, id: string, all: StatusData, signal: AbortSignal): Promise<Outcome<StatusData>> {
  const { log, ...delegation } = await agent.delegation(id, signal)
  const alerts = log.filter(({ severity }) => severity === 'alert')
  const kinds = alerts.slice(-NEWEST).map(({ sequence, kind }) => `${sequence} ${kind}`)
  return {
    text:
      `${delegation.status}; ${counted(log.length, 'finding')}, all signed, none missing, ` +
      `${counted(alerts.length, 'alert')}${kinds.length > 0 ? `: ${kinds.join(', ')}` : ''}.`,
    data: { ...all, delegations: [summaryOf(delegation)], log: log.slice(-NEWEST) },
  }
}

/** Leaves out the webhook secret, which a model must not see. */
function summaryOf(delegation: DelegationSummary): DelegationSummary {
  const fields = Object.keys(DelegationSummary.properties) as (keyof DelegationSummary)[]
  return Object.fromEntries(fields.map((field) => [field, delegation[field]])) as DelegationSummary // all of its fields
}

function statusText({ subscription, delegations }: StatusData): string {
  const paid =
    subscription?.status === 'active'
      ? `Paid until ${subscription.expires_at}.`
      : 'Not paid for. Thirty days cost money: ask the user first.'
  const lines = delegations.map(
    ({ delegation_id, receipt_id, status, alerts }) =>
      `${delegation_id}: ${receipt_id}, ${status}, ${counted(alerts, 'alert')}`,
  )
  return [paid, ...lines, ...(lines.length === 0 ? ['No locker is delegated: `delegate` does it.'] : [])].join('\n')
}
