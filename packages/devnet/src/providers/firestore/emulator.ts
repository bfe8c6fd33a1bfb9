// The emulator in its own process, so that its memory does not count as its clients'. It keeps everything in
// memory and ends with its parent.

import { FirestoreServer, type FirestoreStateDocument } from '@firestore-emulator/server'
import { type Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js'

export interface KeptDocument {
  /** Below the database: `objects/<id>/chunks/<name>`. */
  path: string
  fields: Record<string, unknown>
}

const emulator = new FirestoreServer()
const { state } = emulator
// Its own start method listens on all interfaces.
const { server } = emulator as unknown as { server: Server }

const documents = new Map<string, FirestoreStateDocument>()
state.emitter.on('create-document', ({ document }) => documents.set(document.getPath(), document))
state.emitter.on('delete-document', ({ document }) => documents.delete(document.getPath()))

const [getDocument, writeDocument] = [state.getDocument.bind(state), state.writeV1Document.bind(state)]
const missing = new FirestoreServer().state.getDocument('projects/p/databases/d/documents/none/none')
let isWriting = false
// The emulator remembers every requested document, even missing ones, and copies its list each time.
state.getDocument = (path) => documents.get(path) ?? (isWriting ? getDocument(path) : missing)
state.writeV1Document = (date, write) => {
  isWriting = true
  try {
    return writeDocument(date, write)
  } finally {
    isWriting = false
  }
}

type DocumentWrite = Parameters<typeof writeDocument>[1]
type CommitHandler = (call: ServerUnaryCall<{ writes: DocumentWrite[] }, unknown>, done: sendUnaryData<unknown>) => void

const MAX_COMMIT_BYTES = 10 * 1024 * 1024
const MAX_COMMIT_WRITES = 500

// The emulator has none of Firestore's limits to a commit, in which deleted documents count too.
const { handlers } = server as unknown as { handlers: Map<string, { func: CommitHandler }> }
const commit = handlers.get('/google.firestore.v1.Firestore/Commit')!
const { func: commitAny } = commit
commit.func = (call, done) => {
  const { writes } = call.request
  const bytes = writes.reduce((sum, write) => sum + sizeOf(write), 0)
  if (bytes <= MAX_COMMIT_BYTES && writes.length <= MAX_COMMIT_WRITES) return commitAny(call, done)
  done({ code: status.INVALID_ARGUMENT, details: 'Transaction too big. Decrease transaction size.' })
}

function sizeOf(write: DocumentWrite): number {
  const removed = write.has_delete ? documents.get(write.delete)?.toV1Document().serialize().length : 0
  return write.serialize().length + (removed ?? 0)
}

/** Shows long binary values by their length. */
function describe(document: FirestoreStateDocument): KeptDocument {
  const { fields } = document.toJSON()
  const values = Object.entries(fields).map(([name, { value }]) => [
    name,
    value instanceof Uint8Array ? value.length : value,
  ])
  return { path: document.getDocumentPath(), fields: Object.fromEntries(values) }
}

const questions: Record<string, () => unknown> = {
  documents: () => [...documents.values()].map(describe),
  encodedLengths: () => [...documents.values()].map((document) => document.toV1Document().serialize().length),
}
process.on('message', (question: string) => process.send?.(questions[question]?.()))
process.once('disconnect', () => emulator.stop())
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.send?.(port)
})
