import { DelegateAnswer } from '@svc/api/agent/delegations'
import { Tasks } from '@svc/api/agent/tasks'
import Type from 'typebox'
import { requireAgent, requireOwner } from '../context.ts'
import { tool } from '../tool.ts'
import { ReceiptId, STRICT } from './arguments.ts'

export const delegate = tool({
  name: 'delegate',
  title: 'Let the agent service look after a locker',
  description:
    'Hands a locker to the agent service and lets its key in at the gateway: from then on it may read, write and list ' +
    'there. Without `tasks` it reads everything back once a day and compares (watch). `mirror` fetches web addresses ' +
    'into files again and again, and replaces what they held; `tell` sends findings to an https address. Given again ' +
    'with other tasks, those take the place of the former. Costs nothing itself, but needs a subscription.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  input: Type.Object({ receipt_id: ReceiptId, tasks: Type.Optional(Tasks) }, STRICT),
  output: Type.Object({
    receipt_id: Type.String(),
    delegation_id: DelegateAnswer.properties.delegation_id,
    agent_pubkey: Type.String({ description: 'The key that was let in, of this delegation alone.' }),
    tasks: Tasks,
    expires_at: Type.String({ description: 'Of the subscription.' }),
  }),
  async run(context, { receipt_id, tasks }, { signal, progress }) {
    requireOwner(context)
    const { agent } = requireAgent(context)
    progress(0, 2, 'delegating')
    const delegated = await agent.delegate(receipt_id, tasks, signal)
    const { delegation_id, agent_pubkey, locker_id, expires_at } = delegated
    progress(1, 2, 'letting the key in')
    await context.client.addOperator({ receipt_id, locker_id }, agent_pubkey)
    const secret = tasks?.tell ? ` The secret of its webhooks: \`svc delegations ${delegation_id} --json\`.` : ''
    return {
      text: `Works on it as ${delegation_id} until ${expires_at}. \`agent_status\` tells what it finds.${secret}`,
      data: { receipt_id, delegation_id, agent_pubkey, tasks: delegated.tasks, expires_at },
    }
  },
})
