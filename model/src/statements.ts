// The chain of statements of one receipt (evidence/statements.ts): the next one is signed first, and then written if it
// still follows the newest.

import { word } from './documents.ts'
import { commit, isWaiting, newestStatement, type Step, type Turn } from './state.ts'

export const statements = [findPredecessor, signNext, addStatement, readStatement]

/** The predecessor is in a journal before its successor is signed. */
function findPredecessor({ state, gate, history, operation, step, model }: Turn): Step[] {
  const { doc, digest, sequence } = newestStatement(state)
  const isRefused = gate !== 'current' && model.mutant !== 'skips the gate'
  if (operation || isRefused || sequence >= model.bounds.statements) return []
  const isFirst = sequence === 0 || model.mutant === 'signs before the journal has the predecessor'
  const at = isFirst ? 'signNext' : 'requireWritten'
  return step('findPredecessor', digest, state, { at, of: digest, doc, after: 'signNext', history })
}

function signNext({ state, before, index, history, operation, step }: Turn): Step[] {
  if (operation?.at !== 'signNext') return []
  const sequence = Number(word(operation.doc, 2)) + 1
  const digest = `${sequence}p${index}@${operation.history}`
  const doc = `statement ${digest} ${sequence} ${operation.of}`
  const next = { ...operation, doc, of: digest, at: 'addStatement', after: 'answer' } as const
  return step('signNext', digest, history === operation.history ? state : before, next)
}

/** Only what follows the newest statement is written; otherwise the caller signs again. */
function addStatement(turn: Turn): Step[] {
  const { state, operation, step, model } = turn
  if (operation?.at !== 'addStatement' || isWaiting(turn)) return []
  const { doc, of } = operation
  const { digest, sequence } = newestStatement(state)
  const follows = word(doc, 3) === digest && Number(word(doc, 2)) === sequence + 1
  const isBlind = model.mutant === 'reads the sequence outside the transaction'
  const written = follows || isBlind ? commit(turn, doc) : null
  return step('addStatement', of, written ?? state, written && { ...operation, at: 'recordInJournal' })
}

/** Shows the newest statement, perhaps one that another process has just committed. */
function readStatement({ state, operation, history, step, model }: Turn): Step[] {
  const { doc, digest } = newestStatement(state)
  if (operation || model.bounds.statements === 0 || !doc || state.answered.includes(doc)) return []
  return step('readStatement', digest, state, { at: 'requireWritten', of: digest, doc, after: 'answer', history })
}
