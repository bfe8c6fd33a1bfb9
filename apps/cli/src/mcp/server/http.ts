// Streamable HTTP at /mcp, with one session per client.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { isLoopbackHost, objectionTo } from './http-guard.ts'
import { createServer, type Serving } from './server.ts'

export interface HttpOptions {
  host: string
  port: number
  token: string | null
}

export interface Running {
  stop(): Promise<void>
}

interface Session {
  transport: StreamableHTTPServerTransport
  server: Server
}

const PATH = '/mcp'
const MAX_SESSIONS = 100
const MAX_BODY_BYTES = 256 * 1024

export async function serveHttp(
  serving: Serving,
  { host, port, token }: HttpOptions,
): Promise<Running & { url: string }> {
  const guard = { token, isLoopback: isLoopbackHost(host) }
  /** The least recently used session comes first. */
  const sessions = new Map<string, Session>()

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const objection = objectionTo(request.headers, guard)
    if (objection) return refuse(response, objection.status, objection.message)
    if (URL.parse(request.url ?? '', 'http://server')?.pathname !== PATH) return refuse(response, 404, 'not found')
    const id = request.headers['mcp-session-id']
    if (id === undefined) return begin(request, response)
    const session = sessions.get(String(id))
    if (!session) return refuse(response, 404, 'unknown session')
    sessions.delete(String(id))
    sessions.set(String(id), session)
    await session.transport.handleRequest(request, response)
  }

  /** The transport itself rejects requests that do not begin a session. */
  async function begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const server = createServer(serving)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: MAX_BODY_BYTES,
      onsessioninitialized: (id) => void sessions.set(id, { transport, server }),
    })
    transport.onclose = () => void sessions.delete(transport.sessionId ?? '')
    await server.connect(transport as Transport) // its own types disagree about undefined
    await transport.handleRequest(request, response)
    if (transport.sessionId === undefined) await server.close()
    const [oldest] = sessions.values()
    if (sessions.size > MAX_SESSIONS) await oldest?.server.close()
  }

  const http = createHttpServer((request, response) => {
    handle(request, response).catch((error: Error) => {
      serving.log(`request failed: ${error.message}`)
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'internal error')
    })
  })
  http.listen(port, host)
  await once(http, 'listening')
  const name = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${name}:${(http.address() as AddressInfo).port}${PATH}`,
    async stop() {
      http.close()
      await serving.calls.drain(STOP_WITHIN_MS)
      await Promise.all([...sessions.values()].map(({ server }) => server.close()))
      http.closeAllConnections()
    },
  }
}

/** Purchases are journaled: the next call resumes an interrupted one. */
export const STOP_WITHIN_MS = 10_000

function refuse(response: ServerResponse, status: number, message: string): void {
  const authenticate = status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  response.writeHead(status, { 'content-type': 'application/json', ...authenticate })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }))
}
