// Listens for connections. Node takes one connection of each listener in a turn of its event loop, and turns are long
// when there is much to do: several listeners share the port, so that nobody waits for seconds to be noticed (T-89).

import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'

/** Whoever connects while so many wait is dropped, and notices after seconds: the operating system's limit, not Node's. */
const BACKLOG = 4096
const LISTENERS = 64

export interface Listening {
  server: HttpServer
  /** All that take its connections. */
  listeners: Server[]
}

export interface Address {
  host: string
  port: number
}

/** Returns its address. Fails with EADDRINUSE where something listens already. */
export async function listen({ server, listeners }: Listening, address: Address): Promise<string> {
  // Elsewhere a port cannot be shared: one of several processes gets its connections from the one that started it.
  const isShared = process.platform === 'linux'
  const port = !isShared || cluster.isWorker || address.port === 0 ? address.port : await findPort(address)
  const shared = { backlog: BACKLOG, ...(isShared && { reusePort: true }) }
  server.listen({ host: address.host, port, ...shared })
  await once(server, 'listening')
  const bound = server.address() as AddressInfo
  if (isShared) {
    const options = { host: bound.address, port: bound.port, ...shared }
    const others = await Promise.all(Array.from({ length: LISTENERS - 1 }, () => open(options)))
    for (const other of others) other.on('connection', (socket) => server.emit('connection', socket))
    listeners.push(...others)
  }
  return urlOf(bound)
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}

/**
 * The port itself, or a free one for 0. A port that can be shared could be shared with a stranger, too: this fails with
 * EADDRINUSE where something listens already. Of several processes, the one that starts them asks, and tells them.
 */
export async function findPort({ host, port }: Address): Promise<number> {
  const server = await open({ host, port })
  const { port: found } = server.address() as AddressInfo
  await close(server)
  return found
}

/** Its connections are as those of an HTTP server. */
async function open(options: ListenOptions): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(options)
  await once(server, 'listening')
  return server
}

/** Resolves when its connections have ended, and at once where it never listened. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
