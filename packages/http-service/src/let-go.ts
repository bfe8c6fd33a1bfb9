// Answers that leave before the client has sent all it wants to. A connection that closes at once would often take the
// answer with it, and a client that sends on for ever must not be listened to for ever: the rest is let pass for a
// while, unread.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { hasBody } from './wire-request.ts'

const LET_GO_AFTER_MS = 10_000

export function letGo(request: IncomingMessage): void {
  if (request.complete || !hasBody(request.headers)) return
  setTimeout(() => request.complete || request.destroy(), LET_GO_AFTER_MS).unref()
}

export function hangUpSoon(socket: Socket): void {
  setTimeout(() => socket.destroy(), LET_GO_AFTER_MS).unref()
}
