import type { Tasks } from '@svc/api/agent/tasks'
import type { JobRun } from '@svc/database/queue/queue'
import { isWithinLimits } from '@svc/service/guard/rate-limiter'
import { isBlocked, SourceError } from '@svc/service/outgoing/public-request'
import { type Context, unixNow } from '../../context.ts'
import { type Delivery, findDelivery, setDelivery } from './store.ts'
import { webhookHeaders } from './webhook-request.ts'

/** With the pauses of the queue, some hours. */
export const WEBHOOK_ATTEMPTS = 12

const GONE = 410

/** Owners may name any URL, and the agent must not flood its host. */
const PER_MINUTE = { delegation: 30, host: 300 }

/** Concurrent requests per subscriber, since all of the hosts may hang. */
const MAX_DELIVERIES = 30

/** The pause of a postponed delivery. The random part spreads the retries. */
const PAUSE_SECONDS = { min: 60, random: 540 }
/** A delivery that was postponed for longer than this is dropped. */
const MAX_WAIT_SECONDS = 3 * 86_400

/** Posts a finding to the URL of the owner, until it is accepted or no longer wanted. */
export async function deliverWebhook(context: Context, deliveryId: string, { attempt }: JobRun): Promise<void> {
  const { db, commit } = context.database
  const delivery = await findDelivery(db, deliveryId)
  if (!delivery || delivery.delivered_at !== null) return
  await context.withSlot(`webhooks ${delivery.identity}`, MAX_DELIVERIES, async (isFree) => {
    const isHeldBack = isWanted(delivery) && !(isFree && (await mayPost(context, delivery)))
    if (isHeldBack) return postLater(context, delivery)
    const { error, isFinal } = await post(context, delivery)
    const delivered_at = error === null ? unixNow(context) : null
    await commit((tx) => setDelivery(tx, { delivery_id: deliveryId, delivered_at, error }))
    if (!isFinal && attempt < WEBHOOK_ATTEMPTS) throw new Error(`a webhook was not delivered: ${error}`)
  })
}

/** Enqueues a new job: postponing is not a failure of the host, so the delivery keeps all its attempts. */
async function postLater(
  { database, queue, now, randomBytes }: Context,
  { delivery_id, created_at }: Delivery,
): Promise<void> {
  const error = 'too many concurrent deliveries'
  const random = (randomBytes(1)[0] as number) / 256
  const delaySeconds = Math.round(PAUSE_SECONDS.min + PAUSE_SECONDS.random * random)
  await database.commit(async (tx) => {
    await setDelivery(tx, { delivery_id, delivered_at: null, error })
    if (unixNow({ now }) - created_at > MAX_WAIT_SECONDS) return
    await queue.enqueue(tx, 'tell', { delivery_id }, { key: delivery_id, delaySeconds })
  })
}

interface PostResult {
  error: string | null
  /** Whether another attempt is pointless. */
  isFinal: boolean
}

async function post(context: Context, delivery: Delivery): Promise<PostResult> {
  const { delivery_id: id, delegation_id, url, finding } = delivery
  if (!isWanted(delivery)) return { error: 'this address no longer receives findings', isFinal: true }
  const webhook = { id, timestamp: unixNow(context), body: `{"type":"svc.agent.finding","finding":${finding}}` }
  const headers = webhookHeaders(webhook, context.delegationKeys.webhookSecretOf(delegation_id, url))
  try {
    const status = await context.postWebhook(url, { headers, body: webhook.body })
    if (status >= 200 && status < 300) return { error: null, isFinal: true }
    return { error: `the host responds with ${status}`, isFinal: status === GONE }
  } catch (error) {
    if (error instanceof SourceError) return { error: error.message, isFinal: isBlocked(error) }
    throw error
  }
}

function mayPost({ rateLimiter }: Context, { delegation_id, url }: Delivery): Promise<boolean> {
  return isWithinLimits(
    rateLimiter,
    { key: `webhooks ${delegation_id}`, perMinute: PER_MINUTE.delegation },
    { key: `webhooks ${new URL(url).host}`, perMinute: PER_MINUTE.host },
  )
}

/** Whether the delegation is open, or was revoked, and the owner still wants webhooks at this URL. */
function isWanted({ state, tasks, url }: Delivery): boolean {
  return state !== 'ended' && (JSON.parse(tasks) as Tasks).tell?.url === url
}
