// The connections of a server: their number, and the requests of each, one at a time (T-89).

import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { IDLE_MS } from './send.ts'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

interface Connection {
  /** The last request whose headers arrived, with its answer. */
  last: Exchange | null
  /** When the running request started; null when there is none. */
  startedAt: number | null
  /** Requests that were sent before the running one was answered. */
  waiting: Exchange[]
}

const CONNECTION = Symbol('connection')
type ServedSocket = Socket & { [CONNECTION]?: Connection }

/** Pipelined requests that may wait for the running one. A client that sends more is disconnected. */
const MAX_WAITING = 16
/** A request that has run for less than this is not ended in favour of a new connection. */
const YOUNG_MS = 30_000
const MAX_CONNECTIONS = 10_000

/** Half of the file descriptors: files, the database and outgoing calls need some, too. */
export function connectionLimit(): number {
  const descriptors = Number(/^Max open files +(\d+)/m.exec(processLimits())?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.min(MAX_CONNECTIONS, Math.floor(descriptors / 2))
}

/** Empty when the system does not report it. */
function processLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

/** The last request whose headers arrived on a connection, with its answer. */
export function lastExchange(socket: ServedSocket): Exchange | null {
  return socket[CONNECTION]?.last ?? null
}

/**
 * Returns the handler of each request, which starts it when the earlier requests of its connection have been answered.
 * At `max` connections, a new one replaces another: the one that has been without a request for longest, otherwise the
 * one whose request has taken longest.
 */
export function limitConnections(
  server: Server,
  max: number,
  start: (exchange: Exchange) => void,
): (exchange: Exchange) => void {
  /** Ordered by the end of their last answer. */
  const idle = new Set<ServedSocket>()
  /** Ordered by the start of their request. */
  const busy = new Set<ServedSocket>()

  server.on('connection', (socket: ServedSocket) => {
    if (idle.size + busy.size >= max) {
      const replaced = replaceable(idle, busy, socket).destroy()
      if (replaced === socket) return
      forget(replaced)
    }
    socket[CONNECTION] = { last: null, startedAt: null, waiting: [] }
    idle.add(socket)
    socket.once('close', () => forget(socket))
  })

  function forget(socket: Socket): void {
    idle.delete(socket)
    busy.delete(socket)
  }

  function begin(socket: ServedSocket, connection: Connection, exchange: Exchange): void {
    connection.startedAt = performance.now()
    idle.delete(socket)
    busy.add(socket)
    // A client that does not read its answer is disconnected. Node starts the time-out of the next request when an
    // answer ends.
    exchange.response.once('prefinish', () => socket.setTimeout(IDLE_MS)).once('close', () => end(socket, connection))
    start(exchange)
  }

  function end(socket: ServedSocket, connection: Connection): void {
    connection.startedAt = null
    if (!busy.delete(socket)) return
    idle.add(socket)
    const next = socket.writable && connection.waiting.shift()
    if (!next) return
    // Node removes the time-out of an answer only when no request waits.
    socket.setTimeout(0)
    begin(socket, connection, next)
  }

  return (exchange) => {
    const socket: ServedSocket = exchange.request.socket
    const connection = socket[CONNECTION]
    if (!connection) return
    connection.last = exchange
    if (connection.startedAt === null) begin(socket, connection, exchange)
    else if (connection.waiting.length < MAX_WAITING) connection.waiting.push(exchange)
    else socket.destroy()
  }
}

/** Returns the new connection itself when all others are busy and none has been for long. */
function replaceable(idle: Set<ServedSocket>, busy: Set<ServedSocket>, added: ServedSocket): Socket {
  const [longestIdle] = idle
  if (longestIdle) return longestIdle
  const [longestBusy] = busy
  const since = longestBusy?.[CONNECTION]?.startedAt ?? Number.POSITIVE_INFINITY
  return longestBusy && performance.now() - since > YOUNG_MS ? longestBusy : added
}
