import { Binary, type Document } from 'bson'
import { CommandError } from '../command-error.ts'
import type { Command, ServerState } from '../state.ts'

const SET = 'svc'

/** Claims to be the only member of a replica set, so that drivers use the features of replica sets. */
export const hello: Command = (server, command, connection) => {
  const isPrimary = server.hellosToElection === 0
  if (!isPrimary) server.hellosToElection--
  const answer: Document = {
    helloOk: true,
    ismaster: isPrimary,
    isWritablePrimary: isPrimary,
    secondary: !isPrimary,
    setName: SET,
    setVersion: 1,
    hosts: [server.address],
    me: server.address,
    ...(isPrimary && { primary: server.address }),
    maxBsonObjectSize: 16 * 1024 * 1024,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    maxWireVersion: 25,
    readOnly: !isPrimary,
    ok: 1,
  }
  if (command.saslSupportedMechs) answer.saslSupportedMechs = ['SCRAM-SHA-256']
  const early = command.speculativeAuthenticate
  connection.conversation = early ? begin(server, early) : null
  if (connection.conversation) answer.speculativeAuthenticate = step(connection.conversation.challenge, false)
  return answer
}

export const saslStart: Command = (server, command, connection) => {
  connection.conversation = begin(server, command)
  if (!connection.conversation) throw authenticationFailed()
  return { ...step(connection.conversation.challenge, false), ok: 1 }
}

export const saslContinue: Command = (_, command, connection) => {
  const signature = connection.conversation?.finish(textOf(command.payload)) ?? null
  connection.conversation = null
  if (signature === null) throw authenticationFailed()
  connection.isAuthenticated = true
  return { ...step(signature, true), ok: 1 }
}

function begin({ beginScram }: ServerState, { mechanism, payload }: Document) {
  return mechanism === 'SCRAM-SHA-256' && beginScram ? beginScram(textOf(payload)) : null
}

function step(payload: string, done: boolean): Document {
  return { conversationId: 1, payload: new Binary(Buffer.from(payload)), done }
}

function textOf(payload: unknown): string {
  return payload instanceof Binary ? Buffer.from(payload.value()).toString() : ''
}

/** The same message for every cause, so that it does not reveal which users exist. */
function authenticationFailed(): CommandError {
  return new CommandError(18, 'AuthenticationFailed', 'Authentication failed.')
}
