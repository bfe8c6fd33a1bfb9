// A MongoDB server for tests and demonstrations: one primary, the commands that GridFS needs, SCRAM-SHA-256.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Document } from 'bson'
import { openDatabase } from './database.ts'
import { type Faults, noFaults } from './faults.ts'
import { type Credentials, createScram } from './scram.ts'
import { serveConnection } from './serve-connection.ts'
import type { ServerState } from './server-state.ts'

export interface MongodbServerOptions {
  /** A free one when it is left out. */
  port?: number
  /** Where documents are kept from one start to the next; without it they are gone with the server. */
  folder?: string
  /** Who is let in; without it everybody is. */
  credentials?: Credentials
}

export interface MongodbServer {
  /** With the credentials in it. */
  url: string
  port: number
  faults: Faults
  /** All documents of a collection by its full name, without long binary values. */
  documents(collection: string): Document[]
  /** Of readers who have not come to the end. */
  openCursors(): number
  stop(): Promise<void>
}

export async function startMongodbServer(options: MongodbServerOptions = {}): Promise<MongodbServer> {
  const { port = 0, folder, credentials } = options
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'svc-mongodb-')))
  const sockets = new Set<Socket>()
  let state: ServerState
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    serveConnection(state, socket)
      .catch(() => {})
      .finally(() => socket.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}` // a listening TCP server has one
  // The port is taken before files are touched: of two servers started alike, only one writes.
  const database = openDatabase(home)
  state = {
    address,
    database,
    beginScram: credentials ? createScram(credentials) : null,
    faults: noFaults(),
    cursors: new Map(),
    lastWrites: new Map(),
  }
  const login = credentials
    ? `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`
    : ''
  return {
    url: `mongodb://${login}${address}/`,
    port: (server.address() as AddressInfo).port,
    faults: state.faults,
    documents: (collection) => (database.find(collection)?.matching({}) ?? []).map(({ head }) => head),
    openCursors: () => state.cursors.size,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
      database.close()
      if (folder === undefined) await rm(home, { recursive: true, force: true })
    },
  }
}
