import type { Socket } from 'node:net'
import type { Document } from 'bson'
import { answerCommand, nameOf } from './commands.ts'
import type { ConnectionState, ServerState } from './server-state.ts'
import { encodeReply, requestsOf } from './wire.ts'

/** Until the client goes, breaks the protocol, or a fault cuts it off. */
export async function serveConnection(server: ServerState, socket: Socket): Promise<void> {
  const connection: ConnectionState = { isKnown: server.beginScram === null, conversation: null }
  for await (const request of requestsOf(socket, () => server.faults.maxMessageBytes)) {
    const { command } = request
    const fault = server.faults.on({ name: nameOf(command), collection: collectionOf(command), body: command })
    if (fault === 'silence') continue
    if (fault === 'cut') break
    const isError = fault !== null && typeof fault === 'object'
    const answer = isError ? { ok: 0, ...fault.error } : answerCommand(server, connection, command)
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

function collectionOf(command: Document): string {
  const value = Object.values(command)[0]
  return typeof value === 'string' ? value : (command.collection ?? '')
}

/** Also when it cannot be sent any more: the next request will not come. */
async function send(socket: Socket, ...parts: readonly Uint8Array[]): Promise<void> {
  socket.cork()
  const sent = parts.map((part) => new Promise<void>((resolve) => socket.write(part, () => resolve())))
  socket.uncork()
  await Promise.all(sent)
}
