// Calls any endpoint, typed by its declaration, with the recovery rules of the interface.

import type { Endpoint } from '@svc/api/endpoint'
import { type Context, waitToRetry } from '../context.ts'
import { GatewayError, NoAnswer, NotThisService } from '../errors.ts'
import { attempt } from './attempt.ts'
import type { Answer, AnyInput, CallArguments } from './input.ts'
import { readAnswer, readJsonAnswer } from './read-answer.ts'
import { createRecovery } from './recovery.ts'

/** Calls any endpoint of `@svc/api`, typed by its declaration. */
export async function call<E extends Endpoint>(
  context: Context,
  endpoint: E,
  ...[input]: CallArguments<E>
): Promise<Answer<E>> {
  const read = async (response: Response) => {
    const { status, headers } = response
    return { status, headers, body: await readBody(context, endpoint, response, input?.signal) } as Answer<E> // the status is declared
  }
  return recovering(context, endpoint, input as AnyInput | undefined, read)
}

/** Like `call`, but leaves the body unread, so that it can be streamed. */
export function open<E extends Endpoint>(
  context: Context,
  endpoint: E,
  ...[input]: CallArguments<E>
): Promise<Response> {
  return recovering(context, endpoint, input as AnyInput | undefined, async (response) => response)
}

async function recovering<T>(
  context: Context,
  endpoint: Endpoint,
  input: AnyInput = {},
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const recover = createRecovery(context, endpoint, input)
  for (let attempts = 1; ; attempts++) {
    try {
      return await read(await attempt(context, endpoint, input))
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof NoAnswer)) throw error
      error.attempts = attempts
      error.service = context.service.name
      const waitMs = await recover(error, attempts)
      if (waitMs === null) throw error
      await waitToRetry(context, { failures: attempts, waitMs, error }, input.signal)
    }
  }
}

async function readBody(
  { baseUrl }: Context,
  { contentType, name, responses }: Endpoint,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (contentType === undefined && isWebPage(response))
    throw new NotThisService(`${baseUrl} answers with a web page: it is not the address of a service`)
  try {
    if (contentType === '*/*') return new Uint8Array(await response.arrayBuffer())
    if (contentType !== undefined) return new TextDecoder().decode(await readAnswer(response))
    const body = await readJsonAnswer(response)
    if (isAnswer(responses[response.status], body)) return body
  } catch (cause) {
    signal?.throwIfAborted()
    throw new NoAnswer(`the answer to ${name} is incomplete or unreadable`, { cause })
  }
  throw new NotThisService(`${baseUrl} does not answer ${name} like a gateway`)
}

/** Accepts other releases, whose answers may have more or slightly fewer fields, but not answers of other endpoints. */
function isAnswer(declared: Endpoint['responses'][number] | undefined, body: unknown): boolean {
  const { type, required = [] } = (declared ?? {}) as { type?: unknown; required?: string[] }
  if (type !== 'object') return true
  if (typeof body !== 'object' || body === null) return false
  return 2 * required.filter((field) => field in body).length >= required.length
}

function isWebPage({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/html') ?? false
}
