// What every HTTP server here needs: a port on loopback, a stop that waits, and bodies of bounded length.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import type { Duplex } from 'node:stream'

export interface HttpServer {
  url: string
  port: number
  stop(): Promise<void>
}

export interface HttpServerOptions {
  /** 0, the default, takes any free port. */
  port?: number
  host?: string
  /** Node ends requests that take longer than five minutes; 0 lets uploads take their time. */
  requestTimeout?: number
  /** The handler answers `Expect: 100-continue` itself; without it Node always asks for the body. */
  handlesExpect?: boolean
  /** Handles connections that request another protocol; without it they are closed. */
  onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** When the handler fails, the client sees a broken connection. */
export async function startHttpServer(handler: Handler, options: HttpServerOptions = {}): Promise<HttpServer> {
  const { port = 0, host = '127.0.0.1', requestTimeout, handlesExpect = false, onUpgrade } = options
  // Without keep-alive no client reuses a connection just when the server closes it.
  const server = createServer({ keepAliveTimeout: 0, ...(requestTimeout !== undefined && { requestTimeout }) })
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await handler(request, response)
    } catch {
      response.destroy()
    }
  }
  server.on('request', handle)
  if (handlesExpect) server.on('checkContinue', handle)
  if (onUpgrade) server.on('upgrade', onUpgrade)
  const boundPort = await listen(server, port, host)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}`,
    port: boundPort,
    async stop() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Resolves to the port, once the server listens on it. */
export async function listen(server: Server, port: number, host = '127.0.0.1'): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // a listening TCP server has one
}

/** Null when the body is longer. It is still read to its end: a client that is sending does not see an answer. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= maxBytes) chunks.push(chunk)
  }
  return length <= maxBytes ? Buffer.concat(chunks).toString() : null
}
