import { createHmac } from 'node:crypto'
import { type Message, type PostOptions, post } from '@svc/service/outgoing/post'

export interface Webhook {
  /** The same for every attempt, so that a receiver recognizes repeats. */
  id: string
  /** Unix seconds. */
  timestamp: number
  body: string
}

/** The headers of Standard Webhooks; the secret is `whsec_` and base64. */
export function webhookHeaders({ id, timestamp, body }: Webhook, secret: string): Record<string, string> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` }
}

/** Returns the status of the response; rejects with `SourceError` when there was none. */
export type PostWebhook = (url: string, message: Message) => Promise<number>

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'svc-agent' }

/** Posts to public hosts only, and follows no redirects. */
export function postWebhook(url: string, { headers, body }: Message, options?: PostOptions): Promise<number> {
  return post(url, { headers: { ...HEADERS, ...headers }, body }, options)
}
