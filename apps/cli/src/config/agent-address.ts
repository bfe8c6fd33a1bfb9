import { localAgent } from '@svc/sdk/local-services'
import { UsageError } from '../failures.ts'
import { agentUrl, type Settings } from './settings.ts'

/** Where the agent service is. A gateway on this machine has it on this machine, where `npm start` puts it. */
export function agentAddress({ agent }: Settings, gateway: string): string {
  if (agent) return agentUrl(agent.value)
  const local = localAgent(gateway)
  if (local !== null) return local
  throw new UsageError(
    `the agent service of ${gateway} is not known`,
    'give its address with --agent, SVC_AGENT or `svc config set agent URL`',
  )
}
