// A client of the public interface that calls any replica and gets an answer or nothing.

import { bytesOf, type Identity, type SignedCall, signCall } from '@svc/devnet/services/signing'

export type Body = Record<string, unknown>

export interface Answer {
  status: number
  body: Body
  headers: Headers
  ms: number
}

/** A request and its outcome; `status` is null if no complete answer arrived. */
export interface Observation {
  operation: string
  status: number | null
  /** The error code. */
  code: string | null
  ms: number
}

interface ClientOptions {
  /** The replica for the next request. */
  replica(): string
  observe(observation: Observation): void
  /** How long to wait for an answer. */
  timeoutMs: number
}

export interface Request {
  operation: string
  method: string
  /** The path with its query, also when the gateway returned a whole URL. */
  path: string
  body?: unknown
  headers?: Record<string, string>
}

/** A signed request exactly as sent, for replays. */
export interface SentRequest extends Request {
  sentAt: number
}

export interface Client {
  /** Null if no complete answer arrived: the gateway may or may not have executed the request. */
  send(request: Request): Promise<Answer | null>
  /** Returns the whole body in `bytes`. */
  read(request: Request): Promise<(Answer & { bytes: Buffer }) | null>
  /** Signs with a new nonce each time. */
  sendSigned(who: Identity, operation: string, call: SignedCall): Promise<{ answer: Answer | null; sent: SentRequest }>
}

export function createClient({ replica, observe, timeoutMs }: ClientOptions): Client {
  async function read({
    operation,
    method,
    path,
    body,
    headers,
  }: Request): Promise<(Answer & { bytes: Buffer }) | null> {
    const bytes = bytesOf(body)
    const type = bytes && !(body instanceof Uint8Array) && { 'content-type': 'application/json' }
    const startedAt = performance.now()
    const elapsed = () => performance.now() - startedAt
    try {
      const response = await fetch(replica() + path, {
        method,
        headers: { ...type, ...headers },
        ...(bytes && { body: bytes as BodyInit }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      const answered = Buffer.from(await response.arrayBuffer())
      const json = isJson(response) ? (JSON.parse(answered.toString()) as Body) : {}
      const { status } = response
      observe({ operation, status, code: codeOf(json), ms: elapsed() })
      return { status, body: json, headers: response.headers, ms: elapsed(), bytes: answered }
    } catch {
      observe({ operation, status: null, code: null, ms: elapsed() })
      return null
    }
  }

  return {
    read,
    send: read,
    async sendSigned(who, operation, call) {
      const { headers, body } = signCall(who, call, Date.now())
      const type = body && { 'content-type': 'application/json' }
      const { method = 'GET', path } = call
      const sent = { operation, method, path, body, headers: { ...type, ...headers }, sentAt: Date.now() }
      return { answer: await read(sent), sent }
    },
  }
}

function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/json') ?? false
}

/** In a body with payment terms, `error` is a sentence for people. */
function codeOf({ error, request_id }: Body): string | null {
  return typeof error === 'string' && request_id !== undefined ? error : null
}
