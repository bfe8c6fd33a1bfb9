import { createHmac } from 'node:crypto'

export interface Webhook {
  /** The same each time it is sent, so that who gets it twice can tell. */
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
