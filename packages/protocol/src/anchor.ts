// The payload that a memo transaction publishes for a statement.

import { bare } from './bytes.ts'
import { canonicalBytes } from './canonical.ts'
import type { EvidenceEnvelope } from './evidence.ts'
import { ANCHOR_SCHEMA } from './names.ts'

/** The memo program under its three addresses: versions 1, 3 and 4. */
export const MEMO_PROGRAMS: readonly string[] = [
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
]

export interface AnchorPayload {
  s: string
  pid: string
  sid: string
  dg: string
  root: string
  n: number
  seq: number
  t: number
  k: string
}

/** Identifies the statement without giving access to the locker: no receipt id, no filename (ANCH-02). */
export function anchorPayload({ body, statement_digest }: EvidenceEnvelope): AnchorPayload {
  return {
    s: ANCHOR_SCHEMA,
    pid: body.proof_id,
    sid: body.snapshot_id,
    dg: statement_digest,
    root: bare(body.merkle_root),
    n: body.file_count,
    seq: body.sequence,
    t: body.issued_at_unix,
    k: body.issuer_key_id,
  }
}

/** The bytes of the memo instruction. */
export function anchorMemo(payload: AnchorPayload): Uint8Array {
  return canonicalBytes({ ...payload })
}
