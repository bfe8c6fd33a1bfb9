// Listens for connections. Node takes one connection of each listener in a turn of its event loop, and turns are long
// when there is much to do: several listeners share the port, so that nobody waits for seconds to be noticed (T-89).

import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import type { FastifyListenOptions } from 'fastify'
import type { Service } from './service.ts'

/** Whoever connects while so many wait is dropped, and notices after seconds: the operating system's limit, not Node's. */
const BACKLOG = 4096
const LISTENERS = 64

export interface Address {
  host: string
  port: number
}

/** Returns its address. Fails with EADDRINUSE where something listens already. */
export async function listen({ app }: Service, address: Address): Promise<string> {
  // Elsewhere a port cannot be shared: one of several processes gets its connections from the one that started it.
  if (process.platform !== 'linux') return app.listen({ ...address, backlog: BACKLOG })
  const { host } = address
  const port = cluster.isWorker || address.port === 0 ? address.port : await findPort(address)
  const others: Server[] = []
  let closed: Promise<unknown> = Promise.resolve()
  app.addHook('preClose', async () => {
    closed = Promise.all(others.map(close))
  })
  app.addHook('onClose', () => closed)
  const shared = { backlog: BACKLOG, reusePort: true }
  const url = await app.listen({ host, port, ...shared } as FastifyListenOptions)
  const bound = app.server.address() as AddressInfo
  const options = { host: bound.address, port: bound.port, ...shared }
  others.push(...(await Promise.all(Array.from({ length: LISTENERS - 1 }, () => open(options)))))
  for (const other of others) other.on('connection', (socket) => app.server.emit('connection', socket))
  return url
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

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await closed
}
