import { type Collection, createCollection } from './collection.ts'
import { openJournal } from './journal.ts'

export interface Database {
  /** By its full name, `database.collection`. Null before anything was put into it. */
  find(name: string): Collection | null
  findOrCreate(name: string): Collection
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

  for (const entry of entries) findOrCreate(entry.collection).replay(entry)
  return { find: (name) => collections.get(name) ?? null, findOrCreate, close: journal.close }
}
