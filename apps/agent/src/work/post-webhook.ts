import { type Message, type PostOptions, post } from '@svc/outgoing/post'

/** The status of the answer; rejects with `SourceError` where there was none. */
export type PostWebhook = (url: string, message: Message) => Promise<number>

const HEADERS = { 'content-type': 'application/json', 'user-agent': 'svc-agent' }

/** Only to public hosts, and to no other than the one that was named. */
export function postWebhook(url: string, { headers, body }: Message, options?: PostOptions): Promise<number> {
  return post(url, { headers: { ...HEADERS, ...headers }, body }, options)
}
