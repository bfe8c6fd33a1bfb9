import { isGatewayError } from '@svc/sdk/errors'
import Type from 'typebox'
import { type Context, requireAgent, requireOwner } from '../context.ts'
import { tool } from '../tool.ts'
import { DelegationId, STRICT } from './arguments.ts'

export const endDelegation = tool({
  name: 'end_delegation',
  title: 'Take a locker back from the agent service',
  description:
    'Ends a delegation, and takes the key of the agent service away at the gateway. Its log stays. What is paid for the ' +
    'subscription does not come back; `delegate` can begin anew.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: Type.Object({ delegation_id: DelegationId }, STRICT),
  output: Type.Object({ delegation_id: Type.String(), receipt_id: Type.String(), status: Type.String() }),
  async run(context, { delegation_id }, { signal }) {
    requireOwner(context)
    const { agent } = requireAgent(context)
    const ended = await agent.endDelegation(delegation_id, signal)
    await shutOut(context, ended)
    const { receipt_id, status } = ended
    return {
      text: `${delegation_id} has ended, and its key cannot act any more.`,
      data: { delegation_id, receipt_id, status },
    }
  },
})

interface Ended {
  receipt_id: string
  locker_id: string
  agent_pubkey: string
}

/** A failure is told: the same call tries it again. */
async function shutOut({ client }: Context, { agent_pubkey, ...locker }: Ended): Promise<void> {
  try {
    await client.removeOperator(locker, agent_pubkey)
  } catch (error) {
    if (!isGatewayError(error, 'OPERATOR_NOT_FOUND', 'locker_not_found')) throw error
  }
}
