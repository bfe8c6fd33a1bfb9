// The rules for cases wherever our packages run: each rule is checked on a server and in a page.

import type { Cases } from '../cases.ts'
import { canonicalProblem, numberProblem } from './canonical.ts'
import { encodingProblem } from './encodings.ts'
import { ecdsaProblem } from './secp256k1.ts'
import { textProblem } from './texts.ts'
import { treeProblem } from './trees.ts'

/** The problem of a case; null when it passed. */
const RULES = {
  secp256k1: ecdsaProblem,
  canonical: canonicalProblem,
  numbers: numberProblem,
  texts: textProblem,
  encodings: encodingProblem,
  trees: treeProblem,
} satisfies { [K in keyof Cases]?: (one: Cases[K]) => string | null }

export type RuledKind = keyof typeof RULES

export const RULED_KINDS = Object.keys(RULES) as RuledKind[]

export function problemsBy<K extends RuledKind>(kind: K, cases: readonly Cases[K][]): (string | null)[] {
  const rule = RULES[kind] as (one: Cases[K]) => string | null
  return cases.map((one) => {
    try {
      return rule(one)
    } catch (error) {
      return `crashed: ${error}`
    }
  })
}
