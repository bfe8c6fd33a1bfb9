// Listens for connections. One listener is enough: behind nginx, 64 listeners on the port were no faster (T-89).

import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** The system's limit instead of Node's. Beyond it, connections are dropped, and clients notice only after seconds. */
const BACKLOG = 4096

export interface Address {
  host: string
  port: number
}

/** Returns the URL. Fails with EADDRINUSE when the port is in use. */
export async function listen({ server }: { server: Server }, { host, port }: Address): Promise<string> {
  // Processes of one service share the port that `findPort` found. Otherwise the port cannot be shared: the starting
  // process passes its connections on.
  const reusePort = cluster.isWorker && process.platform === 'linux'
  server.listen({ host, port, backlog: BACKLOG, reusePort })
  await once(server, 'listening')
  return urlOf(server.address() as AddressInfo)
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`
}

/**
 * The port itself, or a free one for 0. A port that can be shared could be shared with a foreign program, too: this
 * fails with EADDRINUSE when the port is in use. With several processes, the starting process checks and informs the
 * others.
 */
export async function findPort({ host, port }: Address): Promise<number> {
  const server = createServer().listen({ host, port })
  await once(server, 'listening')
  const { port: found } = server.address() as AddressInfo
  await close(server)
  return found
}

/** Resolves when the connections have ended, and immediately when the server never listened. */
export function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
