import type { Document } from 'bson'
import type { Collection, Database, StoredDocument } from './collection.ts'
import { CommandError } from './command-error.ts'
import type { Faults } from './faults.ts'
import type { BeginScram, Conversation } from './scram.ts'

export interface ServerState {
  address: string
  database: Database
  /** Null when anyone may connect. */
  beginScram: BeginScram | null
  faults: Faults
  /** How many more `hello` answers deny that it is the primary; 0 when it is. */
  hellosToElection: number
  cursors: Map<bigint, Cursor>
  /** The last write of each session and its answer, so that a repeated write is not executed again. */
  lastWrites: Map<string, { number: bigint; answer: Document }>
}

export interface Cursor {
  collection: Collection
  projection: Document | null
  left: StoredDocument[]
}

export interface ConnectionState {
  isAuthenticated: boolean
  conversation: Conversation | null
}

export type Command = (server: ServerState, command: Document, connection: ConnectionState) => Document

/** The full name of the command's collection. */
export function namespaceOf(command: Document, name: string): string {
  const collection = command[name]
  if (typeof collection !== 'string') throw new CommandError(73, 'InvalidNamespace', 'the collection has no name')
  return `${command.$db}.${collection}`
}
