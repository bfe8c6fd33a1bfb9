import { DelegateAnswer } from '@svc/api/agent/delegations'
import { Tasks } from '@svc/api/agent/tasks'
import { isGatewayError } from '@svc/sdk/errors'
import Type from 'typebox'
import { type Context, requireAgent, requireOwner } from '../context.ts'
import { DelegationId, ReceiptId, STRICT, tool } from './tool.ts'

export const delegate = tool({
  name: 'delegate',
  title: 'Delegate a locker to the agent service',
  description:
    'Lets the agent service work on a locker, and registers its key, which may read, write and list there. By default ' +
    'it reads all files back once a day and compares them. Another call replaces the tasks. Free, but needs a subscription.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: Type.Object(
    {
      receipt_id: ReceiptId,
      tasks: Type.Optional(
        Type.Object(Tasks.properties, { ...STRICT, description: 'By default `watch` every 24 hours.' }),
      ),
    },
    STRICT,
  ),
  output: Type.Object({
    receipt_id: Type.String(),
    delegation_id: DelegateAnswer.properties.delegation_id,
    agent_pubkey: Type.String({ description: 'The registered key, which is for this delegation alone.' }),
    tasks: Tasks,
    expires_at: Type.String({ description: 'The end of the subscription.' }),
  }),
  async run(context, { receipt_id, tasks }, { signal, progress }) {
    requireOwner(context)
    const { agent } = requireAgent(context)
    progress(0, 2, 'delegating')
    const delegated = await agent.delegate(receipt_id, tasks, signal)
    const { delegation_id, agent_pubkey, locker_id, expires_at } = delegated
    progress(1, 2, 'registering the key')
    await context.client.addOperator({ receipt_id, locker_id }, agent_pubkey)
    const secret = tasks?.tell ? ` The secret of its webhooks: \`svc delegations ${delegation_id} --json\`.` : ''
    return {
      text: `The agent service works on it as ${delegation_id} until ${expires_at}. \`agent_status\` shows its findings.${secret}`,
      data: { receipt_id, delegation_id, agent_pubkey, tasks: delegated.tasks, expires_at },
    }
  },
})

export const endDelegation = tool({
  name: 'end_delegation',
  title: 'End a delegation to the agent service',
  description:
    'Ends a delegation and removes its key from the locker. Its log stays. The subscription is not refunded.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: Type.Object({ delegation_id: DelegationId }, STRICT),
  output: Type.Object({ delegation_id: Type.String(), receipt_id: Type.String(), status: Type.String() }),
  async run(context, { delegation_id }, { signal }) {
    requireOwner(context)
    const { agent } = requireAgent(context)
    const ended = await agent.endDelegation(delegation_id, signal)
    const { receipt_id, status } = ended
    if (ended.is_known_key) await removeKey(context, ended)
    return {
      text: ended.is_known_key
        ? `${delegation_id} has ended, and its key can no longer act.`
        : `${delegation_id} has ended. Its key was registered by other means: the user removes it with \`svc operators rm\`.`,
      data: { delegation_id, receipt_id, status },
    }
  },
})

interface Ended {
  receipt_id: string
  locker_id: string
  agent_pubkey: string
}

/** Throws on failure: a repeated call tries again. */
async function removeKey({ client }: Context, { agent_pubkey, ...locker }: Ended): Promise<void> {
  try {
    await client.removeOperator(locker, agent_pubkey)
  } catch (error) {
    if (!isGatewayError(error, 'OPERATOR_NOT_FOUND', 'locker_not_found')) throw error
  }
}
