import type { Document } from 'bson'

type Comparison = (value: number, bound: number) => boolean

const COMPARISONS: Record<string, Comparison> = {
  $gte: (value, bound) => value >= bound,
  $gt: (value, bound) => value > bound,
  $lte: (value, bound) => value <= bound,
  $lt: (value, bound) => value < bound,
}

/** Says of most documents that do not match, and at little cost, that they do not: numbers outside the filter's bounds. */
export function createRuleOut(filter: Document): (document: Document) => boolean {
  const bounds = Object.entries(filter).flatMap(([field, condition]) =>
    Object.entries(COMPARISONS).flatMap(([operator, holds]) => {
      const bound = condition?.[operator]
      return typeof bound === 'number' ? [{ field, bound, holds }] : []
    }),
  )
  return (document) =>
    bounds.some(({ field, bound, holds }) => {
      const value = document[field]
      return typeof value === 'number' && !holds(value, bound)
    })
}
