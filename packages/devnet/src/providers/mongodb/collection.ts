import { Binary, type Document, deserialize, serialize } from 'bson'
import { Query } from 'mingo'
import { CommandError } from './command-error.ts'
import { createKeyIndex, createRuleOut, type IndexSpec, type KeyIndex } from './indexes.ts'
import { type Journal, type JournalEntry, openJournal } from './journal.ts'

const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
/** Longer values are kept in files; queries ignore them. */
const MAX_HELD_BYTES = 1024

export interface StoredDocument {
  /** All of it except long binary values. */
  head: Document
  /** The file with the whole document, if `head` is not all of it. */
  body: string | null
}

export interface Collection {
  indexes(): IndexSpec[]
  addIndex(spec: IndexSpec): void
  /** Throws a `CommandError` when a unique index has the key already, or the document is too large. */
  insert(bytes: Uint8Array): void
  matching(filter: Document): StoredDocument[]
  /** Null when it has been removed. */
  load(stored: StoredDocument): Document | null
  replace(stored: StoredDocument, document: Document): void
  remove(stored: StoredDocument): void
  replay(entry: Exclude<JournalEntry, { drop: true }>): void
}

function createCollection(name: string, journal: Journal): Collection {
  const documents = new Set<StoredDocument>()
  const indexes: KeyIndex<StoredDocument>[] = [createKeyIndex({ key: { _id: 1 }, name: '_id_', unique: true })]

  function add(stored: StoredDocument): void {
    documents.add(stored)
    for (const index of indexes) index.add(stored.head, stored)
  }
  function drop(stored: StoredDocument): void {
    for (const index of indexes) index.remove(stored.head, stored)
    documents.delete(stored)
  }
  function addIndex(spec: IndexSpec): void {
    const index = createKeyIndex<StoredDocument>(spec)
    for (const stored of documents) {
      index.refuseTaken(stored.head)
      index.add(stored.head, stored)
    }
    indexes.push(index)
  }
  function matching(filter: Document): StoredDocument[] {
    const query = new Query(filter)
    const isRuledOut = createRuleOut(filter)
    const candidates = indexes.map((index) => index.candidates(filter)).find((found) => found !== null) ?? documents
    return [...candidates].filter(({ head }) => !isRuledOut(head) && query.test(head))
  }
  function put(stored: StoredDocument): void {
    add(stored)
    journal.append({ collection: name, put: stored.head, body: stored.body })
  }

  return {
    indexes: () => indexes.map(({ spec }) => spec),
    addIndex(spec) {
      if (indexes.some((index) => index.spec.name === spec.name)) return
      addIndex(spec)
      journal.append({ collection: name, index: spec })
    },
    insert(bytes) {
      refuseTooLarge(bytes)
      const document = deserialize(bytes)
      const head = headOf(document)
      for (const index of indexes) index.refuseTaken(head)
      put({ head, body: head === document ? null : journal.keepBody(bytes) })
    },
    matching,
    load(stored) {
      if (!documents.has(stored)) return null
      return stored.body === null ? stored.head : deserialize(journal.readBody(stored.body))
    },
    replace(stored, document) {
      if (stored.body) throw new CommandError(238, 'NotImplemented', 'only small documents can be updated here')
      refuseTooLarge(serialize(document))
      for (const index of indexes) index.refuseTaken(document, stored)
      drop(stored)
      put({ head: document, body: null })
    },
    remove(stored) {
      drop(stored)
      journal.append({ collection: name, remove: stored.head._id })
      if (stored.body) journal.dropBody(stored.body)
    },
    replay(entry) {
      if ('index' in entry) return addIndex(entry.index as IndexSpec) // written above
      const _id = 'put' in entry ? entry.put._id : entry.remove
      for (const stored of matching({ _id })) drop(stored)
      if ('put' in entry) add({ head: entry.put, body: entry.body })
    },
  }
}

function refuseTooLarge(bytes: Uint8Array): void {
  if (bytes.length <= MAX_DOCUMENT_BYTES) return
  throw new CommandError(10334, 'BSONObjectTooLarge', `a document of ${bytes.length} bytes is too large`)
}

/** The document itself when it has no long values. */
function headOf(document: Document): Document {
  const isLong = (value: unknown) => value instanceof Binary && value.length() > MAX_HELD_BYTES
  if (!Object.values(document).some(isLong)) return document
  return Object.fromEntries(Object.entries(document).filter(([, value]) => !isLong(value)))
}

export interface Database {
  /** By its full name, `database.collection`. Null before the first write. */
  find(name: string): Collection | null
  findOrCreate(name: string): Collection
  /** Removes its documents and indexes. */
  drop(name: string): void
  close(): void
}

export function openDatabase(folder: string): Database {
  const { journal, entries } = openJournal(folder)
  const collections = new Map<string, Collection>()

  function findOrCreate(name: string): Collection {
    const collection = collections.get(name) ?? createCollection(name, journal)
    collections.set(name, collection)
    return collection
  }

  for (const entry of entries) {
    if ('drop' in entry) collections.delete(entry.collection)
    else findOrCreate(entry.collection).replay(entry)
  }
  return {
    find: (name) => collections.get(name) ?? null,
    findOrCreate,
    drop(name) {
      const collection = collections.get(name)
      for (const stored of collection?.matching({}) ?? []) collection?.remove(stored)
      if (collections.delete(name)) journal.append({ collection: name, drop: true })
    },
    close: journal.close,
  }
}
