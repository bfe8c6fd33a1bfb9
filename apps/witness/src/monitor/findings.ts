// What a monitor accuses a log of, and what anybody needs to check that.

import { toBase64 } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { formatKey, type NoteKey } from '@svc/transparency/note'
import type { Hash } from '@svc/transparency/tree'
import type { SignedCheckpoint } from './log-reader.ts'

export const FINDING_KINDS = [
  /** Two signed checkpoints of which neither continues the other. */
  'fork',
  /** A statement that does not follow the one before it in its chain. */
  'broken_chain',
  /** An entry of the log that the gateway does not show. */
  'vanished_statement',
  /** An entry that is no statement, or one without the signature of a trusted key. */
  'bad_statement',
  /** A statement dated before another that it follows, or long before it appeared in the log. */
  'back_dated',
  'future_dated',
  /** Neither the statement nor a checkpoint with it was published on chain in time. */
  'late_anchor',
  /** An anchor that publishes something else, or is not on chain. */
  'wrong_anchor',
  'unreachable_too_long',
] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

export interface Finding {
  kind: FindingKind
  /** The same for the same fact: it is recorded once. */
  cause: string
  why: string
  evidence: Evidence
}

export interface Evidence {
  /** The log's key, as `name+hash+base64`. */
  log: string
  /** Signed by the log. */
  checkpoints?: string[]
  /** Of a fork: from the smaller tree to the larger, base64; it shows which root the larger one begins with. */
  path?: string[]
  /** That the entry is in the log (C2SP tlog-proof). */
  proof?: string
  /** Signed by the gateway, the oldest first. */
  statements?: Json[]
  anchor?: Json
}

/**
 * `path` leads from the smaller tree to the larger one; empty where both have one size. `seenAt`: who showed the
 * checkpoint that contradicts what the log showed before; a fork is recorded once for each of them.
 */
export function fork(
  key: NoteKey,
  [earlier, later]: readonly [SignedCheckpoint, SignedCheckpoint],
  path: readonly Hash[],
  seenAt: string,
): Finding {
  const sizes = earlier.size === later.size ? `${earlier.size}` : `${earlier.size} and ${later.size}`
  return {
    kind: 'fork',
    cause: `fork ${seenAt}`,
    why: `the log has signed two checkpoints that contradict each other, of ${sizes} entries (seen at ${seenAt})`,
    evidence: { log: formatKey(key), checkpoints: [earlier.text, later.text], path: path.map(toBase64) },
  }
}
