// The log as other rooms know it.

import type { LogAnchor } from '@svc/api/log'
import type { NoteKey } from '@svc/protocol/transparency/note'

export interface TransparencyLog {
  /** Whose checkpoints these are; its name is the origin. */
  key: NoteKey
  /** What others pin: this log, and those that it took the place of. */
  listed: NamedLog[]
  /** The newest published checkpoint with its cosignatures; null before the first. */
  checkpoint(): Promise<string | null>
  /** Null while no published checkpoint has the statement, or the log cannot be read. */
  proof(statementDigest: string): Promise<LoggedStatement | null>
}

interface NamedLog {
  origin: string
  vkey: string
}

export interface LoggedStatement {
  index: number
  /** The text of tlog-proof. */
  proof: string
  /** Of the checkpoint in the proof. */
  anchor: LogAnchor | null
}
