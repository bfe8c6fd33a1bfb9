import type { Document } from 'bson'
import type { Collection, StoredDocument } from './collection.ts'
import { CommandError } from './command-error.ts'
import type { Database } from './database.ts'
import type { Faults } from './faults.ts'
import type { BeginScram, Conversation } from './scram.ts'

export interface ServerState {
  address: string
  database: Database
  /** Null: everybody is let in. */
  beginScram: BeginScram | null
  faults: Faults
  cursors: Map<bigint, Cursor>
  /** The last write of each session and its answer: a write that is sent again is not done again. */
  lastWrites: Map<string, { number: bigint; answer: Document }>
}

export interface Cursor {
  collection: Collection
  projection: Document | null
  left: StoredDocument[]
}

export interface ConnectionState {
  isKnown: boolean
  conversation: Conversation | null
}

export type Command = (server: ServerState, command: Document, connection: ConnectionState) => Document

/** The full name of the collection that a command is about. */
export function namespaceOf(command: Document, name: string): string {
  const collection = command[name]
  if (typeof collection !== 'string') throw new CommandError(73, 'InvalidNamespace', 'the collection has no name')
  return `${command.$db}.${collection}`
}
