import { describe, expect, it } from 'vitest'
import type { News } from '../../../src/work/findings/add-findings.ts'
import { type Found, LISTED_OF_A_KIND, listFew, unlistedNews } from '../../../src/work/findings/finding-limits.ts'

const newsOf = (kind: News['kind'], count: number): News[] =>
  Array.from({ length: count }, (_, i) => ({ kind, detail: { filename: `${i}` } }))

describe('what a run finds', () => {
  it('AGENT-04 T-11 is listed up to so many of a kind, the first ones, in however many steps it is found', () => {
    let found: Found = {}
    const listed: News[] = []
    const all = newsOf('file_gone', LISTED_OF_A_KIND + 30)
    for (let start = 0; start < all.length; start += 7) {
      const step = listFew(found, all.slice(start, start + 7))
      listed.push(...step.listed)
      found = step.found
    }
    expect(listed).toEqual(all.slice(0, LISTED_OF_A_KIND))
    expect(unlistedNews(found)).toEqual([{ kind: 'file_gone', detail: { more: 30 } }])
  })

  it('AGENT-04 of one kind leaves room for all others, and nothing is said where nothing is left out', () => {
    const { listed, found } = listFew({}, [...newsOf('file_new', 5000), ...newsOf('bytes_differ', LISTED_OF_A_KIND)])
    expect(listed.filter(({ kind }) => kind === 'bytes_differ')).toHaveLength(LISTED_OF_A_KIND)
    expect(unlistedNews(found)).toEqual([{ kind: 'file_new', detail: { more: 5000 - LISTED_OF_A_KIND } }])
    expect(unlistedNews({})).toEqual([])
  })
})
