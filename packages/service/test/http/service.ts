// For tests: a service with a recorded log, and raw connections to it.

import { connect, type Socket } from 'node:net'
import { type Endpoint, endpoint } from '@svc/api/endpoint'
import Type from 'typebox'
import { afterAll, beforeAll } from 'vitest'
import { listen } from '../../src/http/listen.ts'
import { createService, type Service, type ServiceOptions } from '../../src/http/service.ts'
import { createLog } from '../../src/program/log.ts'

export type TestService = Awaited<ReturnType<typeof startTestService>>

/** For the file that calls it. Available from `beforeAll` on. */
export function useTestService(addRoutes: (service: Service) => void, options: TestOptions = {}): TestService {
  const service = {} as TestService // Filled before the first test.
  beforeAll(async () => {
    Object.assign(service, await startTestService(addRoutes, options))
  })
  afterAll(() => service.stop())
  return service
}

type TestOptions = Pick<ServiceOptions, 'badBodyLimit' | 'admit'>

async function startTestService(addRoutes: (service: Service) => void, options: TestOptions) {
  let logged = ''
  const write = (line: string) => {
    logged += line
  }
  const log = createLog('debug', { write, writeSoon: write, flush: () => {} })
  const service = createService({ log, checkResponses: true, ...options })
  addRoutes(service)
  const { server } = service
  const sockets: Socket[] = []
  server.on('connection', (socket) => sockets.push(socket))
  const url = await listen(service, { host: '127.0.0.1', port: 0 })
  /** A connection, after writing these bytes. */
  const open = (...bytes: (string | Uint8Array)[]): Socket => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    for (const piece of bytes) socket.write(piece)
    return socket
  }
  return {
    url,
    log,
    logged: () => logged,
    connect: open,
    /** The answer to these bytes, up to the first end of a JSON object; then the connection is closed. */
    async answerTo(...bytes: (string | Uint8Array)[]) {
      const socket = open(...bytes)
      const answer = await readUntil(socket, '}')
      socket.destroy()
      return answer
    },
    /** The service's end of every connection so far. */
    sockets,
    connections: () => sockets.filter(({ destroyed }) => !destroyed).length,
    /** Makes every request with incomplete headers overdue. */
    expireHeaders() {
      server.headersTimeout = 1
    },
    stop: () => service.close(),
  }
}

/** The bytes of a connection up to and including a text, or until its end. */
export async function readUntil(socket: Socket, text: string): Promise<string> {
  let read = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    read += (chunk as Buffer).toString('latin1')
    if (read.includes(text)) break
  }
  return read
}

/** The common part of test endpoints. */
export const GET = { method: 'GET', auth: 'public', summary: 'for tests' } as const
export const POST = { ...GET, method: 'POST' } as const
export const OK = { 200: Type.Object({ ok: Type.Boolean() }) }

export function bytesEndpoint(path: string) {
  const responses = { 200: Type.Object({ size: Type.Integer() }) }
  return endpoint({ ...GET, name: path, method: 'PUT', path, takesBytes: true, responses } satisfies Endpoint)
}
