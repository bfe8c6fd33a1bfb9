// The HTTP server: what is refused before there is a route, and when a client may send its body.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { ServiceError } from '../service-error.ts'
import type { Admit } from './admission.ts'
import { connectionLimit, type Exchange, limitConnections } from './connections.ts'

const HEADERS_TIMEOUT_MS = 15_000
/** How often Node looks for connections whose headers are late. */
const CHECK_CONNECTIONS_MS = 5_000
const KEEP_ALIVE_MS = 72_000
/** Node's limit for all headers together, which no path exceeds. */
export const MAX_HEAD_BYTES = 16_384
/** Only names and values count as bytes, so that short ones would be many. */
const MAX_HEADERS = 256

export type Refuse = (
  request: IncomingMessage,
  response: ServerResponse,
  error: ServiceError,
  connection: { close: boolean },
) => void

/** Paths that are answered however busy the process is: a service that is not asked how it is would be taken for dead. */
const ALWAYS_TAKEN = ['/health/live', '/health/ready', '/metrics']
/** Larger bodies of refused requests are not waited for. */
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
    if (!admit || ALWAYS_TAKEN.includes(request.url ?? '')) return void handle(request, response)
    admit((release) => {
      if (!release) return refuse(request, response, overloaded(), { close: !isSmall(request) })
      // A client that disconnected while waiting is not served.
      if (response.destroyed) return release()
      response.once('close', release)
      handle(request, response)
    })
  }
  const server = createServer(options)
  // Node leaves out what is more, which `headProblem` must not overlook.
  server.maxHeadersCount = MAX_HEADERS + 1
  const receive = limitConnections(server, connectionLimit(), start)
  server.on('request', (request, response) => receive({ request, response }))
  // Without a listener, Node answers 417 by itself, also where the header is empty.
  server.on('checkExpectation', (request, response) => receive({ request, response }))
  return server.on('checkContinue', (request, response) => {
    const { shouldKeepAlive } = response
    waiting.set(request, () => {
      response.shouldKeepAlive = shouldKeepAlive
      response.writeContinue()
    })
    // Unless it is told to continue, the client does not send its body, and the next request cannot be found.
    response.shouldKeepAlive = false
    receive({ request, response })
  })
}

/** What lets a waiting client send. */
const waiting = new WeakMap<IncomingMessage, () => void>()

/** Sends 100 Continue to a client that waits for it. Called once the body is wanted: after all checks of the headers. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.()
  waiting.delete(request)
}

let refusals = 0

/** Clients that are refused together come back one after the other. */
export function overloaded(): ServiceError {
  const seconds = 1 + (refusals++ % 3)
  return new ServiceError('overloaded', 'the service has more requests than it can serve in time', {
    hint: 'nothing was changed: send the same request again after the pause that Retry-After names',
    headers: { 'retry-after': `${seconds}` },
  })
}

/** Whether the connection can be used for the next request: its body has to be read before. */
function isSmall({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= MAX_DISCARDED_BYTES
}

/** Two parties that read such a head differently could be made to disagree about who is asked for what. */
function headProblem({ rawHeaders, headers, httpVersion }: IncomingMessage): ServiceError | null {
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return new ServiceError('headers_too_large', `a request may have ${MAX_HEADERS} headers`, {
      hint: 'send fewer headers',
    })
  }
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    return new ServiceError('malformed_request', 'a request has exactly one Host header', {
      hint: 'send one Host header: the host and port of this service',
    })
  }
  const { expect = '' } = headers
  if (expect.trim() !== '' && !/100-continue/i.test(expect)) {
    return new ServiceError('expectation_failed', 'the only expectation is 100-continue', {
      hint: 'send the request without the header Expect',
    })
  }
  const coding = headers['transfer-encoding']
  if (coding === undefined || coding.trim().toLowerCase() === 'chunked') return null
  return new ServiceError('unsupported_encoding', 'the only transfer encoding is chunked', {
    hint: 'send the bytes as they are, without compressing them on the way',
    status: 501,
  })
}
