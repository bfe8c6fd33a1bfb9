import type { Document } from 'bson'

export interface SeenCommand {
  /** In lower case: `insert`, `find`, `hello`. */
  name: string
  collection: string
  /** As received; documents to insert stay bytes. */
  body: Document
}

/**
 * The fault of a command: an error instead of executing it; no answer; the connection cut instead of executing
 * it, after executing it, or in the middle of the answer.
 */
export type Fault =
  | { error: Document }
  | 'silence'
  | 'cut'
  | 'cut-after'
  | 'cut-answer'
  /** Executes it, and answers that a majority did not confirm the write. */
  | { writeConcernError: Document }
  /** The server steps down; it is elected primary again after this many `hello` commands. */
  | { stepDown: number }

export interface Faults {
  /** Called for every command. */
  on(command: SeenCommand): Fault | null
  /** The connection breaks when a message is longer. */
  maxMessageBytes: number
}

export function noFaults(): Faults {
  return { on: () => null, maxMessageBytes: 48_000_000 }
}

/** Errors as MongoDB words them. */
export const ERRORS = {
  outOfDisk: { code: 14031, codeName: 'OutOfDiskSpace', errmsg: 'available disk space is below the minimum' },
  overQuota: { code: 8000, codeName: 'AtlasError', errmsg: 'you are over your space quota, using 512 MB of 512 MB' },
  unauthorized: { code: 13, codeName: 'Unauthorized', errmsg: 'not authorized to execute this command' },
  cursorGone: { code: 43, codeName: 'CursorNotFound', errmsg: 'cursor id 7 not found' },
  internal: { code: 1, codeName: 'InternalError', errmsg: 'something broke in shard-07.internal' },
  notReplicated: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting for replication timed out' },
  shuttingDown: {
    code: 91,
    codeName: 'ShutdownInProgress',
    errmsg: 'the server is in quiesce mode and will shut down',
    errorLabels: ['RetryableWriteError'],
  },
} as const
