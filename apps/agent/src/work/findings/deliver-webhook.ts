import type { Tasks } from '@svc/api/agent/tasks'
import { SourceError } from '@svc/outgoing/source-error'
import type { JobRun } from '@svc/queue/queue'
import { hasRoom } from '../../callers/limits.ts'
import { type Context, unixNow } from '../../context.ts'
import { type Delivery, findDelivery, setDelivery } from './store.ts'
import { webhookHeaders } from './webhook-request.ts'

/** With the pauses of the queue, some hours. */
export const TELL_ATTEMPTS = 12

const GONE = 410

/** Nobody is to be flooded in our name: an address is anybody's who is named as one. */
const PER_MINUTE = { delegation: 30, host: 300 }

/** Of one subscriber, whose addresses may all hang. */
const AT_ONCE = 30

/** Of one that waits for its turn: no less, and up to so much more by chance, so that many do not come back at once. */
const TURN_SECONDS = { least: 60, more: 540 }
/** Who has more to tell than his turns of so many days is not told the rest. */
const LONGEST_WAIT_SECONDS = 3 * 86_400

/** Sends a finding to the address of the subscriber, until it is taken or there is no more use in it. */
export async function tell(context: Context, deliveryId: string, { attempt }: JobRun): Promise<void> {
  const { db } = context.database
  const delivery = await findDelivery(db, deliveryId)
  if (!delivery || delivery.delivered_at !== null) return
  await context.inTurn(`tell ${delivery.identity}`, AT_ONCE, async (isFree) => {
    const isWaiting = isWanted(delivery) && !(isFree && (await mayTell(context, delivery)))
    if (isWaiting) return waitForTurn(context, delivery)
    const { error, isFinal } = await send(context, delivery)
    const delivered_at = error === null ? unixNow(context) : null
    await setDelivery(db, { delivery_id: deliveryId, delivered_at, error })
    if (!isFinal && attempt < TELL_ATTEMPTS) throw new Error(`a webhook was not delivered: ${error}`)
  })
}

/** A job of its own: that we hold back is no failure of the address, which has all its attempts still. */
async function waitForTurn(
  { database, queue, now, randomBytes }: Context,
  { delivery_id, created_at }: Delivery,
): Promise<void> {
  const error = 'too many findings at once'
  const chance = (randomBytes(1)[0] as number) / 256
  const delaySeconds = Math.round(TURN_SECONDS.least + TURN_SECONDS.more * chance)
  await database.db.transaction().execute(async (tx) => {
    await setDelivery(tx, { delivery_id, delivered_at: null, error })
    if (unixNow({ now }) - created_at > LONGEST_WAIT_SECONDS) return
    await queue.enqueue(tx, 'tell', { delivery_id }, { key: delivery_id, delaySeconds })
  })
}

interface Sent {
  error: string | null
  /** Whether it need not be tried again. */
  isFinal: boolean
}

async function send(context: Context, delivery: Delivery): Promise<Sent> {
  const { delivery_id: id, delegation_id, url, finding } = delivery
  if (!isWanted(delivery)) return { error: 'the address is not to be told any more', isFinal: true }
  const webhook = { id, timestamp: unixNow(context), body: `{"type":"svc.agent.finding","finding":${finding}}` }
  const headers = webhookHeaders(webhook, context.delegationKeys.webhookSecretOf(delegation_id, url))
  try {
    const status = await context.postWebhook(url, { headers, body: webhook.body })
    if (status >= 200 && status < 300) return { error: null, isFinal: true }
    return { error: `the host answers ${status}`, isFinal: status === GONE }
  } catch (error) {
    if (error instanceof SourceError) return { error: error.message, isFinal: false }
    throw error
  }
}

function mayTell(context: Context, { delegation_id, url }: Delivery): Promise<boolean> {
  return hasRoom(
    context,
    { key: `webhooks ${delegation_id}`, perMinute: PER_MINUTE.delegation },
    { key: `webhooks ${new URL(url).host}`, perMinute: PER_MINUTE.host },
  )
}

/** Found for as long as there was ground to look, told for as long as the subscriber wants it at this address. */
function isWanted({ state, tasks, url }: Delivery): boolean {
  return state !== 'ended' && (JSON.parse(tasks) as Tasks).tell?.url === url
}
