// A run may find any number of things. So many of each kind become entries of the log; the rest is counted in one more.

import { FINDING_KINDS, type FindingKind } from '@svc/api/agent/delegations'
import type { News } from './add-findings.ts'

export const LISTED_OF_A_KIND = 100

/** How many of each kind a run has found. */
export type Found = { [Kind in FindingKind]?: number }

/** Those that are listed, the first ones first, and how many there are by now. */
export function listFew(before: Found, news: readonly News[]): { listed: News[]; found: Found } {
  const found = { ...before }
  const listed = news.filter(({ kind }) => {
    const isListed = hasRoomFor(found, kind)
    found[kind] = (found[kind] ?? 0) + 1
    return isListed
  })
  return { listed, found }
}

export function hasRoomFor(found: Found, kind: FindingKind): boolean {
  return (found[kind] ?? 0) < LISTED_OF_A_KIND
}

/** One of each kind of which there were more, to end the run with. */
export function unlistedNews(found: Found): News[] {
  return FINDING_KINDS.flatMap((kind) => {
    const more = (found[kind] ?? 0) - LISTED_OF_A_KIND
    return more > 0 ? [{ kind, detail: { more } }] : []
  })
}
