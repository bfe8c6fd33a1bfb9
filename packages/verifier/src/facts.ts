// The facts about a bundle. Each fact is separate, and none is combined with another. `verdict.ts` summarizes them.

import type { FactValue } from '@svc/protocol/facts'

export const OFFLINE_FACTS = [
  'merkle_root_matches',
  'files_match',
  'statement_digest_matches',
  'envelope_binds_commitment',
  'signature_valid',
  'key_pinned',
] as const

export const ONLINE_FACTS = [
  'anchor_tx_succeeded',
  'anchor_signer_matches',
  'anchor_payload_matches',
  'anchor_slot_matches',
  'anchor_finalized',
  'registry_matches',
] as const

/** Facts about redacted bundles only. */
export const REDACTED_FACTS = ['inclusion_proven'] as const

/** Facts about bundles that have a log proof, or for callers who request one. */
export const LOG_FACTS = ['log_included', 'log_cosigned', 'log_anchored'] as const

/** Facts about a receipt that is verified together with a bundle. */
export const RECEIPT_FACTS = [
  'receipt_signature_valid',
  'receipt_id_matches',
  'receipt_key_pinned',
  'receipt_is_of_bundle',
] as const

type OfflineFact = (typeof OFFLINE_FACTS)[number]
type OnlineFact = (typeof ONLINE_FACTS)[number]
type RedactedFact = (typeof REDACTED_FACTS)[number]
type LogFact = (typeof LOG_FACTS)[number]
export type BundleFact = OfflineFact | OnlineFact | RedactedFact | LogFact

/** `why` is a short sentence for a person. A fact that passed has one only if it passed in an unusual way. */
export type Fact = { value: 'passed'; why?: string } | { value: Exclude<FactValue, 'passed'>; why: string }

type OfflineFacts = Record<OfflineFact, Fact>
export type OnlineFacts = Record<OnlineFact, Fact>
export type LogFacts = Record<LogFact, Fact>
export type BundleFacts = OfflineFacts & OnlineFacts & Partial<Record<RedactedFact, Fact>> & Partial<LogFacts>

/** All possible facts about a bundle, in reading order. */
export const BUNDLE_FACTS: readonly BundleFact[] = [...OFFLINE_FACTS, ...REDACTED_FACTS, ...ONLINE_FACTS, ...LOG_FACTS]

export const PASSED: Fact = { value: 'passed' }

export function failed(why: string): Fact {
  return { value: 'failed', why }
}

export function notChecked(why: string): Fact {
  return { value: 'not_checked', why }
}

export function unavailable(why: string): Fact {
  return { value: 'unavailable', why }
}

export function passedUnless(problem: string | null): Fact {
  return problem === null ? PASSED : failed(problem)
}
