// A one-word summary of the facts. It ignores facts that were not checked, except for the key: without a pinned key,
// anyone may have signed.

import type { FactValue } from '@svc/protocol/facts'

export type Verdict =
  /** Nothing failed, and a pinned key signed a statement that provably includes the files. */
  | 'verified'
  /** Nothing failed, but the signing key was not pinned, or may no longer have been valid. */
  | 'signer_unknown'
  /** A fact failed, the evidence cannot be read, or it proves no file. */
  | 'failed'

/**
 * `facts`: all facts about one bundle, including those about a receipt or a surrounding envelope. Null if the bundle
 * was refused.
 */
export function verdictOf(facts: Readonly<Record<string, { value: FactValue }>> | null): Verdict {
  if (!facts) return 'failed'
  const hasPassed = (name: string) => facts[name]?.value === 'passed'
  const isDisproved = Object.values(facts).some(({ value }) => value === 'failed')
  const provesFiles =
    hasPassed('signature_valid') && (hasPassed('merkle_root_matches') || hasPassed('inclusion_proven'))
  if (isDisproved || !provesFiles) return 'failed'
  return hasPassed('key_pinned') ? 'verified' : 'signer_unknown'
}
