import { type Document, deserialize, serialize } from 'bson'
import { update as change } from 'mingo'
import { CommandError } from '../command-error.ts'
import type { IndexSpec } from '../indexes.ts'
import { type Command, namespaceOf, type ServerState } from '../state.ts'

export const insert: Command = onceOnly(({ database }, command) => {
  const collection = database.findOrCreate(namespaceOf(command, 'insert'))
  return each<Buffer>(command, command.documents, (document) => {
    collection.insert(document)
    return { n: 1 }
  })
})

export const update: Command = onceOnly(({ database }, command) => {
  const collection = database.findOrCreate(namespaceOf(command, 'update'))
  return each<Document>(command, command.updates, ({ q, u, multi, upsert }) => {
    if (upsert) throw new CommandError(238, 'NotImplemented', 'there are no upserts here')
    const found = collection.matching(q)
    const chosen = multi ? found : found.slice(0, 1)
    let nModified = 0
    for (const stored of chosen) {
      const changed = deserialize(serialize(stored.head))
      if (change(changed, u).length === 0) continue
      collection.replace(stored, changed)
      nModified++
    }
    return { n: chosen.length, nModified }
  })
})

export const remove: Command = onceOnly(({ database }, command) => {
  const collection = database.findOrCreate(namespaceOf(command, 'delete'))
  return each<Document>(command, command.deletes, ({ q, limit }) => {
    const found = collection.matching(q)
    const chosen = limit === 0 ? found : found.slice(0, limit)
    for (const stored of chosen) collection.remove(stored)
    return { n: chosen.length }
  })
})

/** Executes the writes in order; when ordered, the first failure ends them. The answer lists the failures. */
function each<T>(
  { ordered = true }: Document,
  writes: T[],
  write: (entry: T) => { n: number; nModified?: number },
): Document {
  const sum: Document = { n: 0, nModified: undefined }
  const writeErrors: Document[] = []
  for (const [index, entry] of writes.entries()) {
    try {
      const { n, nModified } = write(entry)
      sum.n += n
      if (nModified !== undefined) sum.nModified = (sum.nModified ?? 0) + nModified
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      writeErrors.push({ index, ...error.toDocument() })
      if (ordered) break
    }
  }
  return { ...sum, ...(writeErrors.length > 0 && { writeErrors }), ok: 1 }
}

/** Retryable writes: a session numbers its writes, and a repeated write gets its first answer again. */
function onceOnly(command: (server: ServerState, command: Document) => Document): Command {
  return (server, body) => {
    if (body.txnNumber === undefined) return command(server, body)
    const session = Buffer.from(body.lsid.id.value()).toString('hex')
    const number = BigInt(body.txnNumber)
    const last = server.lastWrites.get(session)
    if (last?.number === number) return last.answer
    const answer = command(server, body)
    server.lastWrites.set(session, { number, answer })
    return answer
  }
}

export const drop: Command = ({ database }, command) => {
  const ns = namespaceOf(command, 'drop')
  const collection = database.find(ns)
  if (!collection) throw new CommandError(26, 'NamespaceNotFound', `ns not found: ${ns}`)
  const nIndexesWas = collection.indexes().length
  database.drop(ns)
  return { nIndexesWas, ns, ok: 1 }
}

/** Of an index, only its key and whether it is unique matter here. */
export const createIndexes: Command = ({ database }, command) => {
  const collection = database.findOrCreate(namespaceOf(command, 'createIndexes'))
  const before = collection.indexes().length
  for (const spec of command.indexes as IndexSpec[]) collection.addIndex(spec)
  return { numIndexesBefore: before, numIndexesAfter: collection.indexes().length, ok: 1 }
}

export const listIndexes: Command = ({ database }, command) => {
  const ns = namespaceOf(command, 'listIndexes')
  const collection = database.find(ns)
  if (!collection) throw new CommandError(26, 'NamespaceNotFound', `ns does not exist: ${ns}`)
  const firstBatch = collection.indexes().map((spec) => ({ v: 2, ...spec }))
  return { cursor: { id: 0n, ns, firstBatch }, ok: 1 }
}
