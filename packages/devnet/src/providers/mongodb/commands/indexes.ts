import { CommandError } from '../command-error.ts'
import type { IndexSpec } from '../key-index.ts'
import { type Command, namespaceOf } from '../server-state.ts'

/** Of an index only its key and whether it is unique mean something here. */
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
