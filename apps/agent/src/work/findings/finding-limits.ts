// A run may have any number of findings. The first of each kind become entries of the log; one additional entry counts
// the others.

import { FINDING_KINDS, type FindingKind } from '@svc/api/agent/delegations'
import type { NewFinding } from './add-findings.ts'

export const MAX_LISTED_PER_KIND = 100

/** How many findings of each kind a run has made. */
export type FindingCounts = { [Kind in FindingKind]?: number }

/** The findings to list, in order, and the new counts. */
export function limitFindings(
  before: FindingCounts,
  findings: readonly NewFinding[],
): { listed: NewFinding[]; found: FindingCounts } {
  const found = { ...before }
  const listed = findings.filter(({ kind }) => {
    const isListed = isBelowLimit(found, kind)
    found[kind] = (found[kind] ?? 0) + 1
    return isListed
  })
  return { listed, found }
}

export function isBelowLimit(found: FindingCounts, kind: FindingKind): boolean {
  return (found[kind] ?? 0) < MAX_LISTED_PER_KIND
}

/** One finding for each kind that exceeded the limit, written when the run finishes. */
export function overflowFindings(found: FindingCounts): NewFinding[] {
  return FINDING_KINDS.flatMap((kind) => {
    const more = (found[kind] ?? 0) - MAX_LISTED_PER_KIND
    return more > 0 ? [{ kind, detail: { more } }] : []
  })
}
