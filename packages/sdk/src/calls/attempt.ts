import type { Endpoint } from '@svc/api/endpoint'
import type { ErrorBody } from '@svc/api/errors'
import { utf8 } from '@svc/protocol/bytes'
import type { Context } from '../context.ts'
import { GatewayError, NoAnswer } from '../errors.ts'
import { networkErrorReason } from '../network-errors.ts'
import { credentials } from './credentials.ts'
import type { AnyInput } from './input.ts'
import { readJsonAnswer } from './read-answer.ts'
import { filledPath, queryText } from './target.ts'

/** Far more than any error answer needs. */
const ERROR_LIMITS = { maxBytes: 1_048_576, deadlineMs: 60_000 }

/** Signs and sends one request. Returns the answer if the endpoint declares its status. */
export async function attempt(context: Context, endpoint: Endpoint, input: AnyInput): Promise<Response> {
  const { params, query, bytes, signal = null } = input
  const path = filledPath(endpoint.path, params)
  // Serialize once, so that the signed bytes are the sent bytes.
  const json = input.body === undefined ? undefined : utf8(JSON.stringify(input.body))
  const body = bytes ?? json
  const headers = {
    ...(json && { 'content-type': 'application/json' }),
    ...input.headers,
    ...(await credentials(context, endpoint, { path, body: body ?? new Uint8Array(), input })),
  }
  const request = { method: endpoint.method, headers, signal, ...(body && { body: body as BodyInit }) }
  const response = await send(context, path + queryText(query), request)
  // A storage provider that the gateway redirects to has its own success statuses.
  if (response.status in endpoint.responses || (response.redirected && response.ok)) return response
  throw await readError(response)
}

async function send({ fetch, baseUrl }: Context, target: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(baseUrl + target, request)
  } catch (cause) {
    request.signal?.throwIfAborted()
    const error = new NoAnswer(`no answer from ${baseUrl}: ${networkErrorReason(cause)}`, { cause })
    error.url = baseUrl
    throw error
  }
}

async function readError(response: Response): Promise<GatewayError> {
  const body: unknown = await readJsonAnswer(response, ERROR_LIMITS).catch(() => null)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new GatewayError(response.status, isErrorBody(body) ? body : null, Number.isFinite(seconds) ? seconds : null)
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof (body as ErrorBody | null)?.error === 'string' && typeof (body as ErrorBody).message === 'string'
}
