// The HTTP server: rejections before routing, and when a client may send its body.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { ServiceError } from '../service-error.ts'
import type { Admit } from './admission.ts'
import { connectionLimit, type Exchange, limitConnections } from './connections.ts'

const HEADERS_TIMEOUT_MS = 15_000
/** How often Node checks for connections with late headers. */
const CHECK_CONNECTIONS_MS = 5_000
const KEEP_ALIVE_MS = 72_000
/** Node's limit for all headers together, which no path exceeds. */
export const MAX_HEAD_BYTES = 16_384
/** Node counts only names and values, so that short headers could be very many. */
const MAX_HEADERS = 256

export type Refuse = (
  request: IncomingMessage,
  response: ServerResponse,
  error: ServiceError,
  connection: { close: boolean },
) => void

/** Paths that are answered under any load: a service that does not answer health checks would be considered dead. */
const ALWAYS_ACCEPTED = ['/health/live', '/health/ready', '/metrics']
/** Larger bodies of rejected requests are not read to the end. */
const MAX_DISCARDED_BYTES = 65_536

interface HttpServerOptions {
  handle: RequestListener
  refuse: Refuse
  admit: Admit | null
}

export function createHttpServer({ handle, refuse, admit }: HttpServerOptions): Server {
  const options = {
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Uploads may take as long as they need; only the headers have a timeout.
    requestTimeout: 0,
    requireHostHeader: false, // `headProblem` checks it, and answers in our form
  }
  const start = ({ request, response }: Exchange) => {
    const problem = headProblem(request)
    if (problem) return void refuse(request, response, problem, { close: true })
    if (!admit || ALWAYS_ACCEPTED.includes(request.url ?? '')) return void handle(request, response)
    admit((release) => {
      if (!release) return refuse(request, response, overloaded(), { close: !isSmall(request) })
      // A client that disconnected while waiting is not served.
      if (response.destroyed) return release()
      response.once('close', release)
      handle(request, response)
    })
  }
  const server = createServer(options)
  // Node drops headers beyond the limit, which `headProblem` must not overlook.
  server.maxHeadersCount = MAX_HEADERS + 1
  const receive = limitConnections(server, connectionLimit(), start)
  server.on('request', (request, response) => receive({ request, response }))
  // Without a listener, Node answers 417 itself, even when the header is empty.
  server.on('checkExpectation', (request, response) => receive({ request, response }))
  return server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response
    waiting.set(request, () => {
      response.shouldKeepAlive = shouldKeepAlive
      response.writeContinue()
    })
    // Without 100 Continue the client does not send its body, and the next request cannot be found.
    response.shouldKeepAlive = false
    receive({ request, response })
  })
}

/** What lets a waiting client send. */
const waiting = new WeakMap<IncomingMessage, () => void>()

/**
 * Sends 100 Continue to a client that waits for it. Called once the body is wanted: after all checks of the headers.
 */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.()
  waiting.delete(request)
}

let refusals = 0

/** Clients that are rejected together return at different times. */
export function overloaded(): ServiceError {
  const seconds = 1 + (refusals++ % 3)
  return new ServiceError('overloaded', 'the service has more requests than it can serve in time', {
    hint: 'nothing was changed: send the same request again after the seconds in Retry-After',
    headers: { 'retry-after': `${seconds}` },
  })
}

/** Whether the connection can be reused for the next request: the body must be read first. */
function isSmall({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= MAX_DISCARDED_BYTES
}

/** Two servers that read such a head differently could disagree about the requested host. */
function headProblem({ rawHeaders, headers, httpVersion }: IncomingMessage): ServiceError | null {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return new ServiceError('headers_too_large', `a request may have at most ${MAX_HEADERS} headers`, {
      hint: 'send fewer headers',
    })
  }
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    return new ServiceError('malformed_request', 'a request must have exactly one Host header', {
      hint: 'send one Host header: the host and port of this service',
    })
  }
  const { expect = '' } = headers
  if (expect.trim() !== '' && !/100-continue/i.test(expect)) {
    return new ServiceError('expectation_failed', 'the only supported expectation is 100-continue', {
      hint: 'send the request without the header Expect',
    })
  }
  const coding = headers['transfer-encoding']
  if (coding === undefined || coding.trim().toLowerCase() === 'chunked') return null
  return new ServiceError('unsupported_encoding', 'the only supported transfer encoding is chunked', {
    hint: 'send the bytes without compressing them',
    status: 501,
  })
}
