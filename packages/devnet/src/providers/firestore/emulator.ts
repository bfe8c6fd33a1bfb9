// The emulator in a process of its own, so that what it holds is not taken for its clients'. It has all in memory, and
// ends when its parent lets go.

import { FirestoreServer, type FirestoreStateDocument } from '@firestore-emulator/server'
import { type Server, ServerCredentials } from '@grpc/grpc-js'

export interface KeptDocument {
  /** Below the database: `objects/<id>/chunks/<name>`. */
  path: string
  fields: Record<string, unknown>
}

const emulator = new FirestoreServer()
const { state } = emulator
// Its own way to start listens to the whole network.
const { server } = emulator as unknown as { server: Server }

const documents = new Map<string, FirestoreStateDocument>()
state.emitter.on('create-document', ({ document }) => documents.set(document.getPath(), document))
state.emitter.on('delete-document', ({ document }) => documents.delete(document.getPath()))

const [getDocument, writeDocument] = [state.getDocument.bind(state), state.writeV1Document.bind(state)]
const notThere = new FirestoreServer().state.getDocument('projects/p/databases/d/documents/none/none')
let isWriting = false
// It remembers every document that is asked for, also those that are not there, and copies its list for each.
state.getDocument = (path) => documents.get(path) ?? (isWriting ? getDocument(path) : notThere)
state.writeV1Document = (date, write) => {
  isWriting = true
  try {
    return writeDocument(date, write)
  } finally {
    isWriting = false
  }
}

/** Long binary values are told by their length. */
function tell(document: FirestoreStateDocument): KeptDocument {
  const { fields } = document.toJSON()
  const values = Object.entries(fields).map(([name, { value }]) => [
    name,
    value instanceof Uint8Array ? value.length : value,
  ])
  return { path: document.getDocumentPath(), fields: Object.fromEntries(values) }
}

const questions: Record<string, () => unknown> = {
  documents: () => [...documents.values()].map(tell),
  encodedLengths: () => [...documents.values()].map((document) => document.toV1Document().serialize().length),
}
process.on('message', (question: string) => process.send?.(questions[question]?.()))
process.once('disconnect', () => emulator.stop())
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.send?.(port)
})
