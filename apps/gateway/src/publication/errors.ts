import type { AnchorError } from '@svc/api/attestations'
import { isoSeconds } from '@svc/protocol/evidence'

/** Why a statement could not be published, as codes. */
type Reason =
  | 'rpc_unavailable'
  | 'publication_key_unfunded'
  | 'transaction_refused'
  | 'transaction_failed'
  | 'transaction_expired'
  | 'outcome_unknown'
  | 'earlier_statement_open'
  | 'registry_account_foreign'
  | 'registry_not_set_up'

interface Details {
  tx?: string | null
  isRetryable?: boolean
  isAmbiguous?: boolean
}

/** The statement was not published. This is certain unless `isAmbiguous`. */
export class NotPublished extends Error {
  override name = 'NotPublished'
  readonly reason: Reason
  readonly isRetryable: boolean
  readonly isAmbiguous: boolean
  /** Null if nothing was sent. */
  readonly tx: string | null

  constructor(reason: Reason, problem: string, { tx = null, isRetryable = true, isAmbiguous = false }: Details = {}) {
    super(`${reason}: ${problem}`)
    this.reason = reason
    this.tx = tx
    this.isRetryable = isRetryable
    this.isAmbiguous = isAmbiguous
  }
}

/** `at` in Unix seconds. */
export function anchorError({ message, isRetryable, isAmbiguous, tx }: NotPublished, at: number): AnchorError {
  return { error: message, retryable: isRetryable, ambiguous: isAmbiguous, tx_signature: tx, at: isoSeconds(at) }
}
