// The payload that a memo transaction publishes for a log: one checkpoint, which covers every statement up to its size.

import { toHex } from '../bytes.ts'
import { canonicalBytes } from '../canonical.ts'
import { LOG_ANCHOR_SCHEMA } from '../names.ts'
import type { Checkpoint } from './checkpoint.ts'

export interface LogAnchorPayload {
  s: typeof LOG_ANCHOR_SCHEMA
  /** The origin of the log. */
  o: string
  /** The number of entries. */
  n: number
  /** Hex. */
  root: string
}

export function logAnchorPayload({
  origin,
  size,
  root,
}: Pick<Checkpoint, 'origin' | 'size' | 'root'>): LogAnchorPayload {
  return { s: LOG_ANCHOR_SCHEMA, o: origin, n: size, root: toHex(root) }
}

/** The bytes of the memo instruction. */
export function logAnchorMemo(payload: LogAnchorPayload): Uint8Array {
  return canonicalBytes({ ...payload })
}
