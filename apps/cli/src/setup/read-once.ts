import { type Discovery, discovery } from '@svc/api/info'
import { readAtMost } from '@svc/protocol/read-at-most'
import { NoAnswer, networkErrorReason } from '@svc/sdk/errors'
import type { Session } from '../session.ts'

const MAX_ANSWER_BYTES = 1_048_576

/** Reads once, without the retries of the client, which would only slow down the diagnosis. */
export async function readOnce<T>({ gateway, host }: Pick<Session, 'gateway' | 'host'>, path: string): Promise<T> {
  try {
    const response = await fetch(gateway + path, {
      signal: AbortSignal.any([host.signal, AbortSignal.timeout(5_000)]),
    })
    const bytes = await readAtMost(MAX_ANSWER_BYTES, response.body ?? [])
    return JSON.parse(new TextDecoder().decode(bytes)) as T
  } catch (cause) {
    const message = `${gateway} does not answer like a gateway: ${networkErrorReason(cause)}`
    throw Object.assign(new NoAnswer(message, { cause }), { url: gateway })
  }
}

/** Whether the gateway runs on local chains, whose coins are worthless. False if it does not answer. */
export async function isOnLocalChains(session: Pick<Session, 'gateway' | 'host'>): Promise<boolean> {
  try {
    return (await readOnce<Discovery>(session, discovery.path)).environment === 'development'
  } catch {
    session.host.signal.throwIfAborted()
    return false
  }
}
