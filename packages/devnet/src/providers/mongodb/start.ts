// A MongoDB server for tests and demonstrations: one primary, the commands that GridFS needs, SCRAM-SHA-256.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Document } from 'bson'
import { listen } from '../../http-server.ts'
import { openDatabase } from './collection.ts'
import { serveConnection } from './connection.ts'
import { type Faults, noFaults } from './faults.ts'
import { type Credentials, createScram } from './scram.ts'
import type { ServerState } from './state.ts'

export interface MongodbServerOptions {
  /** 0, the default, takes any free port. */
  port?: number
  /** Keeps documents between starts; without it they end with the server. */
  folder?: string
  /** Without them anyone may connect. */
  credentials?: Credentials
}

export interface MongodbServer {
  /** Includes the credentials. */
  url: string
  port: number
  faults: Faults
  /** All documents of a collection, by its full name, without long binary values. */
  documents(collection: string): Document[]
  /** Cursors that are not read to their end. */
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
  // Take the port before touching files: of two servers started by mistake, only one writes.
  const boundPort = await listen(server, port)
  const address = `127.0.0.1:${boundPort}`
  const database = openDatabase(home)
  state = {
    address,
    database,
    beginScram: credentials ? createScram(credentials) : null,
    faults: noFaults(),
    hellosToElection: 0,
    cursors: new Map(),
    lastWrites: new Map(),
  }
  const login = credentials
    ? `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`
    : ''
  return {
    url: `mongodb://${login}${address}/`,
    port: boundPort,
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
