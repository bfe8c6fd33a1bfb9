import { describe, expect, it } from 'vitest'
import type { NewFinding } from '../../../src/work/findings/add-findings.ts'
import {
  type FindingCounts,
  limitFindings,
  MAX_LISTED_PER_KIND,
  overflowFindings,
} from '../../../src/work/findings/finding-limits.ts'

const newsOf = (kind: NewFinding['kind'], count: number): NewFinding[] =>
  Array.from({ length: count }, (_, i) => ({ kind, detail: { filename: `${i}` } }))

describe('the findings of a run', () => {
  it('AGENT-04 T-11 are listed up to a limit per kind, across all steps', () => {
    let found: FindingCounts = {}
    const listed: NewFinding[] = []
    const all = newsOf('file_gone', MAX_LISTED_PER_KIND + 30)
    for (let start = 0; start < all.length; start += 7) {
      const step = limitFindings(found, all.slice(start, start + 7))
      listed.push(...step.listed)
      found = step.found
    }
    expect(listed).toEqual(all.slice(0, MAX_LISTED_PER_KIND))
    expect(overflowFindings(found)).toEqual([{ kind: 'file_gone', detail: { more: 30 } }])
  })
})
