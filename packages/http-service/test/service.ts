// For tests: a service with a recorded log, and raw connections to it.

import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { type Endpoint, endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { createLog } from '../src/log.ts'
import { createService, type Service, type StrangerLimit } from '../src/service.ts'

export interface TestService {
  url: string
  logged(): string
  /** A connection, after writing these bytes. */
  connect(...bytes: (string | Uint8Array)[]): Socket
  connections(): Promise<number>
  /** The service's end of every connection so far. */
  sockets: Socket[]
  /** Lets every request whose headers are incomplete be overdue. */
  expireHeaders(): void
  stop(): Promise<void>
}

export async function startTestService(
  addRoutes: (service: Service) => void,
  strangers?: StrangerLimit,
): Promise<TestService> {
  let logged = ''
  const write = (line: string) => {
    logged += line
  }
  const log = createLog('debug', { write, writeSoon: write, flush: () => {} })
  const service = createService({ log, checkResponses: true, ...(strangers && { strangers }) })
  addRoutes(service)
  const { server } = service.app
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    logged: () => logged,
    connect(...bytes) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      for (const piece of bytes) socket.write(piece)
      return socket
    },
    sockets,
    connections: () => promisify(server.getConnections.bind(server))(),
    expireHeaders() {
      server.headersTimeout = 1
    },
    stop: () => service.app.close(),
  }
}

/** What a connection sends up to and including a text, or until its end. */
export async function readUntil(socket: Socket, text: string): Promise<string> {
  let read = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    read += (chunk as Buffer).toString('latin1')
    if (read.includes(text)) break
  }
  return read
}

const Received = Type.Object({ size: Type.Integer() })

export function bytesEndpoint(path: string) {
  return endpoint({
    name: path,
    method: 'PUT',
    path,
    auth: 'public',
    summary: 'takes bytes',
    takesBytes: true,
    responses: { 200: Received },
  } satisfies Endpoint)
}
