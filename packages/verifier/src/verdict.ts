// One word about evidence, for those who read no further. It adds nothing to the facts: what was not checked is no part
// of it, apart from the key. Without a pinned key, anybody may have signed.

import type { FactValue } from '@svc/protocol/facts'

export type Verdict =
  /** Nothing failed, and a pinned key has signed what the files are shown to be part of. */
  | 'verified'
  /** Nothing failed, but the key that signed was not pinned, or may no longer have been good. */
  | 'signer_unknown'
  /** A fact failed, or the evidence cannot be read, or proves no file. */
  | 'failed'

/**
 * `facts` are all facts about one bundle, with those about a receipt or an envelope around it; null where the bundle was
 * refused.
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
