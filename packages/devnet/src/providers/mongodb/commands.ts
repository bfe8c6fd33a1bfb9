import type { Document } from 'bson'
import { CommandError } from './command-error.ts'
import { hello, saslContinue, saslStart } from './commands/handshake.ts'
import { createIndexes, listIndexes } from './commands/indexes.ts'
import { find, getMore, killCursors } from './commands/reading.ts'
import { insert, remove, update } from './commands/writing.ts'
import type { Command, ConnectionState, ServerState } from './server-state.ts'

const ok: Command = () => ({ ok: 1 })

/** By their names in lower case. */
const FOR_EVERYBODY: Record<string, Command> = {
  hello,
  ismaster: hello,
  saslstart: saslStart,
  saslcontinue: saslContinue,
  ping: ok,
  endsessions: ok,
}
const COMMANDS: Record<string, Command> = {
  ...FOR_EVERYBODY,
  find,
  getmore: getMore,
  killcursors: killCursors,
  insert,
  update,
  delete: remove,
  createindexes: createIndexes,
  listindexes: listIndexes,
}

export function nameOf(command: Document): string {
  return (Object.keys(command)[0] ?? '').toLowerCase()
}

export function answerCommand(server: ServerState, connection: ConnectionState, command: Document): Document {
  const name = nameOf(command)
  try {
    const run = COMMANDS[name]
    if (!run) throw new CommandError(59, 'CommandNotFound', `no such command: '${name}'`)
    if (!connection.isKnown && !FOR_EVERYBODY[name]) {
      throw new CommandError(13, 'Unauthorized', `command ${name} requires authentication`)
    }
    return run(server, command, connection)
  } catch (error) {
    if (error instanceof CommandError) return { ok: 0, ...error.toDocument() }
    return { ok: 0, code: 1, codeName: 'InternalError', errmsg: String(error) }
  }
}
