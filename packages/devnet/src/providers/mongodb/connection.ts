import type { Socket } from 'node:net'
import type { Document } from 'bson'
import { CommandError } from './command-error.ts'
import { hello, saslContinue, saslStart } from './commands/handshake.ts'
import { find, getMore, killCursors } from './commands/reading.ts'
import { createIndexes, drop, insert, listIndexes, remove, update } from './commands/writing.ts'
import type { Fault } from './faults.ts'
import type { Command, ConnectionState, ServerState } from './state.ts'
import { encodeReply, requestsOf } from './wire.ts'

/** Serves a connection until the client leaves, breaks the protocol, or a fault cuts it. */
export async function serveConnection(server: ServerState, socket: Socket): Promise<void> {
  const connection: ConnectionState = { isAuthenticated: server.beginScram === null, conversation: null }
  for await (const request of requestsOf(socket, () => server.faults.maxMessageBytes)) {
    const { command } = request
    const fault = server.faults.on({ name: nameOf(command), collection: collectionOf(command), body: command })
    if (fault === 'silence') continue
    if (fault === 'cut') break
    const { error, writeConcernError, stepDown } = planned(fault)
    server.hellosToElection = stepDown ?? server.hellosToElection
    const executed = error ? { ok: 0, ...error } : answerCommand(server, connection, command)
    const answer = writeConcernError ? { ...executed, writeConcernError } : executed
    if (fault === 'cut-after') break
    if (request.isOneWay) continue
    const reply = encodeReply(request, answer)
    if (fault === 'cut-answer') {
      const [head, document] = reply
      await send(socket, head, document.subarray(0, document.length / 2))
      break
    }
    await send(socket, ...reply)
  }
}

function planned(fault: Fault | null): { error?: Document; writeConcernError?: Document; stepDown?: number } {
  return typeof fault === 'object' && fault !== null ? fault : {}
}

function collectionOf(command: Document): string {
  const value = Object.values(command)[0]
  return typeof value === 'string' ? value : (command.collection ?? '')
}

/** Resolves even if sending fails: then no further request arrives. */
async function send(socket: Socket, ...parts: readonly Uint8Array[]): Promise<void> {
  socket.cork()
  const sent = parts.map((part) => new Promise<void>((resolve) => socket.write(part, () => resolve())))
  socket.uncork()
  await Promise.all(sent)
}

const ok: Command = () => ({ ok: 1 })

/** Allowed before authentication. Names are in lower case. */
const UNAUTHENTICATED: Record<string, Command> = {
  hello,
  ismaster: hello,
  saslstart: saslStart,
  saslcontinue: saslContinue,
  ping: ok,
  endsessions: ok,
}
const COMMANDS: Record<string, Command> = {
  ...UNAUTHENTICATED,
  find,
  getmore: getMore,
  killcursors: killCursors,
  insert,
  update,
  delete: remove,
  createindexes: createIndexes,
  listindexes: listIndexes,
  drop,
}

function nameOf(command: Document): string {
  return (Object.keys(command)[0] ?? '').toLowerCase()
}

function answerCommand(server: ServerState, connection: ConnectionState, command: Document): Document {
  const name = nameOf(command)
  try {
    const run = COMMANDS[name]
    if (!run) throw new CommandError(59, 'CommandNotFound', `no such command: '${name}'`)
    if (!connection.isAuthenticated && !UNAUTHENTICATED[name]) {
      throw new CommandError(13, 'Unauthorized', `command ${name} requires authentication`)
    }
    if (server.hellosToElection > 0 && !UNAUTHENTICATED[name]) {
      const isRetryable = command.txnNumber !== undefined
      const labels = isRetryable ? { errorLabels: ['RetryableWriteError'] } : {}
      throw new CommandError(10107, 'NotWritablePrimary', 'not primary', labels)
    }
    return run(server, command, connection)
  } catch (error) {
    if (error instanceof CommandError) return { ok: 0, ...error.toDocument() }
    return { ok: 0, code: 1, codeName: 'InternalError', errmsg: String(error) }
  }
}
