import type { Context } from '../../context.ts'
import { type DsseEnvelopes, openDsseEnvelopes } from './dsse.ts'
import { openRecomputations, type Recomputations } from './recompute/recompute-verify.ts'
import { type LongDigests, openLongDigests } from './recompute/self-verify.ts'
import { openVerifyAnswers, type VerifyAnswers } from './verify.ts'

interface EvidenceState {
  verifyAnswers: VerifyAnswers
  dsseEnvelopes: DsseEnvelopes
  recomputations: Recomputations
  longDigests: LongDigests
}

declare module '../../context.ts' {
  interface Context extends EvidenceState {}
}

export function openEvidence(context: Context): EvidenceState {
  return {
    verifyAnswers: openVerifyAnswers(context.database.db),
    dsseEnvelopes: openDsseEnvelopes(),
    recomputations: openRecomputations(context),
    longDigests: openLongDigests(context),
  }
}
