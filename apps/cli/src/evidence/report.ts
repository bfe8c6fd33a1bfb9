// The result for one bundle, which `svc verify --json` prints and the tool `verify` of `svc mcp` returns.

import type { DsseFacts } from '@svc/verifier/dsse'
import type { Fact } from '@svc/verifier/facts'
import { type ReceiptFacts, uncheckedWith } from '@svc/verifier/receipt-facts'
import type { Verification, VerifiedBundle } from '@svc/verifier/verify-bundle'

/** The checks of one bundle. */
export interface Checked {
  verification: Verification
  /** Null unless a receipt was given. */
  receipt: ReceiptFacts | null
  /** Null for an evidence bundle. */
  dsse: DsseFacts | null
}

/** All facts about a readable bundle. */
export function factsOf({ verification, receipt, dsse }: Checked): Record<string, Fact> {
  return verification.refused ? {} : { ...verification.facts, ...dsse, ...receipt }
}

export function reportOf(checked: Checked & { verification: VerifiedBundle }) {
  const { verification, receipt } = checked
  const { receiptId, counted, envelope, redacted, log } = verification
  return {
    receipt_id: receiptId,
    facts: factsOf(checked),
    unchecked: uncheckedWith(receipt, verification),
    counted: {
      files: counted.files,
      total_bytes: counted.totalBytes?.toString() ?? null,
      merkle_root: counted.merkleRoot,
    },
    redacted: redacted && {
      redaction: redacted.redaction,
      files_shown: redacted.shown,
      files: redacted.total,
      left_out: redacted.leftOut,
    },
    statement: envelope && {
      sequence: envelope.body.sequence,
      issued_at: envelope.body.issued_at,
      statement_digest: envelope.statement_digest,
      file_count: envelope.body.file_count,
    },
    log,
  }
}
