// The verdict of our rule on a JSON case: the grammar of RFC 8259, except that input on which parsers disagree is
// rejected (ADD-05).

import type { JsonCase } from './cases.ts'
import { CRASHED, type Objection, strictObjection } from './readers.ts'

/** Texts that the grammar allows and that are refused. */
const BY_RULE = /occurs twice|nested deeper than|number out of range/
/** Places differ in how much they read. */
const BY_LIMIT = /more than \d+ values|longer than|too_large/

/** The problem with this objection to a case; null when it is right. */
export function jsonProblem({ name, bytes }: JsonCase, objection: Objection): string | null {
  if (objection?.startsWith(CRASHED)) return objection
  const [, kind] = /(?:^|[/\\])([yni])_[^/\\]*$/.exec(name) ?? []
  const isLimit = objection !== null && BY_LIMIT.test(objection)
  if (kind === 'n' && objection === null) return 'was parsed'
  if (kind === 'y' && objection !== null && !BY_RULE.test(objection) && !isLimit) return `was refused: ${objection}`
  const strict = strictObjection(bytes)
  if ((strict === null) === (objection === null) || isLimit) return null
  return `${objection ?? 'was parsed'}, but the strict reader says ${strict ?? 'nothing'}`
}

/** Whether our rule rejects a text that must be parsed. */
export function isRefusedByRule({ name, bytes }: JsonCase): boolean {
  return /(?:^|[/\\])y_/.test(name) && strictObjection(bytes) !== null
}
