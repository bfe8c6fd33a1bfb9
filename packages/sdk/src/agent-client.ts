import { agentService } from './agent/agent-service.ts'
import { checkFindings } from './agent/check-findings.ts'
import { confirm } from './agent/confirm.ts'
import { delegate } from './agent/delegate.ts'
import { delegation, delegations, endDelegation } from './agent/delegations.ts'
import { quote } from './agent/quote.ts'
import { subscribe } from './agent/subscribe.ts'
import { bindOperations } from './bind-operations.ts'
import { type ClientOptions, createContext, type Overrides } from './context.ts'
import { pay } from './purchases/pay.ts'

/** What people do with an agent service. */
const operations = {
  quote,
  pay,
  confirm,
  subscribe,
  delegate,
  delegations,
  delegation,
  endDelegation,
  checkFindings,
}

export type AgentClient = ReturnType<typeof createAgentClient>

export function createAgentClient(options: ClientOptions, overrides: Overrides = {}) {
  return bindOperations(createContext(agentService, options, overrides), operations)
}
