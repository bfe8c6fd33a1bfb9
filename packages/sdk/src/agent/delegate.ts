import { type DelegateAnswer, delegate as endpoint } from '@svc/api/agent/delegations'
import type { Tasks } from '@svc/api/agent/tasks'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { NotSubscribed, UntrueAnswer } from '../errors.ts'
import { lockerOf } from '../lockers/locker.ts'

/**
 * Hands the locker of a receipt to the agent, or changes what it does there; the client must sign with the key that
 * paid. The agent can do nothing before its key is registered at the gateway: `addOperator(locker, agent_pubkey)`.
 */
export async function delegate(
  context: Context,
  receiptId: string,
  tasks?: Tasks,
  signal?: AbortSignal,
): Promise<DelegateAnswer> {
  const locker = lockerOf(receiptId)
  const answer = await call(context, endpoint, { body: { ...locker, ...(tasks && { tasks }) }, signal })
  if (answer.status === 402) throw new NotSubscribed(answer.body)
  const { body } = answer
  if (body.receipt_id !== receiptId || body.locker_id !== locker.locker_id)
    throw new UntrueAnswer('the delegation is of another locker')
  if (!ed25519PublicKeyFromBase58(body.agent_pubkey) || body.next_step.body.pubkey !== body.agent_pubkey)
    throw new UntrueAnswer('the delegation does not name one key to register')
  return body
}
