// What happens around every operation (continuity, database): the journal and the answer after a commit, crashes,
// backups, restored databases, the comparison that opens the gate, and the replay.

import { isPublished } from './anchors.ts'
import { type Docs, hasKey, keyOf, kindOf, withAll, word } from './documents.ts'
import { newestStatement, type State, type Step, setProcess, spend, statementOf, type Turn } from './state.ts'

export const continuity = [recordInJournal, requireWritten, answer, crash, compare, replay, restoreDocument]

/** Reads what was committed, and appends it. What came from a server that is gone fails. */
function recordInJournal({ state, before, history, operation, machine, index, step, model }: Turn): Step[] {
  if (operation?.at !== 'recordInJournal' && operation?.at !== 'append') return []
  const { of, doc } = operation
  // Sending makes the statement public, too.
  const at = operation.after === 'send' ? 'requireWritten' : operation.after
  const next = at === 'end' ? null : { ...operation, at }
  if (operation.at === 'append') {
    const isUndone = operation.history !== before.processes[index]!.history
    return step('append', of, append(before, machine, doc), isUndone ? null : next)
  }
  const isUndone = operation.history !== history || !state.db.docs.includes(doc)
  if (isUndone) return step('recordInJournal', of, state, null)
  if (model.mutant === 'answers before the journal') return step('recordInJournal', of, state, next)
  // On one machine nothing happens between reading and writing.
  if (model.bounds.machines === 2) return step('recordInJournal', of, state, { ...operation, at: 'append' })
  return step('recordInJournal', of, append(state, machine, doc), next)
}

function append(state: State, machine: number, ...docs: string[]): State {
  const keys = docs.map(keyOf)
  const pending = state.db.pending.filter((key) => !keys.includes(key))
  const journals = state.journals.with(machine, withAll(state.journals[machine]!, ...docs))
  return { ...state, journals, db: { ...state.db, pending } }
}

/** What another process has committed is written to a journal before anyone learns of it, or depends on it. */
function requireWritten({ state, before, operation, machine, step, model: { mutant } }: Turn): Step[] {
  if (operation?.at !== 'requireWritten') return []
  const { doc, after, of } = operation
  const shown = after === 'send' ? [doc, ...statementOf(state, doc)] : [doc]
  // The process has just noticed another server, or what it read came from one that is gone.
  const isLost = state !== before || !shown.every((each) => hasKey(state.db.docs, keyOf(each)))
  if (isLost && mutant !== 'shows what a lost server had') return step('requireWritten', of, state, null)
  const pending = shown.filter((each) => state.db.pending.includes(keyOf(each)))
  const isSkipped = mutant === 'shows what another process committed without the journal'
  return step('requireWritten', of, isSkipped ? state : append(state, machine, ...pending), { ...operation, at: after })
}

function answer({ before, operation, step }: Turn): Step[] {
  if (operation?.at !== 'answer') return []
  const answered = withAll(before.answered, operation.doc)
  return step('answer', keyOf(operation.doc), { ...before, answered }, null)
}

function crash({ before, index, operation, step }: Turn): Step[] {
  if (!operation || before.left.crash === 0) return []
  return step('crash', operation.at, setProcess(spend(before, 'crash'), index, { gate: 'checking' }), null)
}

/** On one machine the admin stops the processes before the database is restored. */
export function restore(state: State): Step[] {
  const { backup, left, db, journals, history } = state
  const outside = (action: string, next: State) => [{ action, actor: null, about: '', next }]
  if (left.restore === 0) return []
  if (!backup) return outside('backUp', { ...state, backup: db })
  const stopped = { gate: 'checking', history: history + 1, operation: null } as const
  const processes = journals.length === 1 ? state.processes.map(() => stopped) : state.processes
  return outside('restore', { ...spend(state, 'restore'), db: backup, history: history + 1, processes })
}

function missing({ db, journals }: State, machine: number): string[] {
  return journals[machine]!.filter((doc) => !hasKey(db.docs, keyOf(doc)))
}

/** Compares the database with the own journal, which catches up, and waits for the other machines. */
function compare({ state, gate, machine, index, operation, step, model }: Turn): Step[] {
  const { db, history } = state
  const isBehind = missing(state, machine).length > 0
  const pending = isBehind ? [] : db.docs.filter((doc) => db.pending.includes(keyOf(doc)))
  const completeOn = db.completeOn.with(machine, isBehind ? -1 : history)
  const isAwaited = completeOn.some((each) => each !== history) && model.mutant !== 'waits for no other journal'
  const found = isBehind || isAwaited ? 'behind' : 'current'
  if (found === gate && completeOn.join() === db.completeOn.join()) return []
  const caughtUp = append({ ...state, db: { ...db, completeOn } }, machine, ...pending)
  return step('compare', found, setProcess(caughtUp, index, { gate: found }), operation)
}

/** A command restores documents of its journal, each in one transaction. It may be interrupted and repeated. */
function replay({ state, gate, history, machine, operation, step }: Turn): Step[] {
  if (operation || gate !== 'behind') return []
  const lost = missing(state, machine)
  // Transactions without an outcome come last.
  const inOrder = [...lost.filter((doc) => word(doc, 3) !== 'sent'), ...lost]
  const doc = inOrder.find((each) => restored(state, each))
  if (!doc) return []
  return step('replay', keyOf(doc), state, { at: 'restoreDocument', of: keyOf(doc), doc, after: 'end', history })
}

function restoreDocument({ state, operation, step, model }: Turn): Step[] {
  if (operation?.at !== 'restoreDocument') return []
  const { doc, of } = operation
  const isKnown = hasKey(state.db.docs, of)
  const docs = isKnown ? state.db.docs : (restored(state, doc) ?? state.db.docs)
  const isTwice = isKnown && model.mutant === 'replays a document twice'
  const written = isTwice ? [...docs, doc].sort() : docs
  return step('restoreDocument', of, { ...state, db: { ...state.db, docs: written } }, null)
}

/** The rows with that document; null if it has to wait, or another is in its place. */
function restored(state: State, doc: string): Docs | null {
  const { docs } = state.db
  if (doc.startsWith('publication')) return restoredPublication(state, doc)
  if (doc.startsWith('statement')) return newestStatement(state).digest === word(doc, 3) ? withAll(docs, doc) : null
  const [quote, tx] = word(doc, 1).split('/')
  const isTaken = kindOf(docs, 'receipt').some((each) => each.includes(`${quote}/`) || each.endsWith(`/${tx}`))
  return doc.startsWith('receipt') && isTaken ? null : withAll(docs, doc)
}

/** An open transaction that is in the way is resolved first. */
function restoredPublication(state: State, doc: string): Docs | null {
  const { docs } = state.db
  const [tx, digest, known] = [1, 2, 3].map((index) => word(doc, index)) as [string, string, string]
  const row = (outcome: string) => withAll(docs, `publication ${tx} ${digest} ${outcome}`)
  if (statementOf(state, doc).length === 0) return null
  const open = known === 'sent' ? kindOf(docs, 'publication').find((each) => word(each, 3) === 'sent') : undefined
  if (known === 'expired' || !(open || isPublished(state, digest))) return row(known)
  if (!open) return known === 'sent' && outcomeOf(state, tx) === 'expired' ? row('expired') : null
  const outcome = outcomeOf(state, word(open, 1))
  const others = withAll(
    docs.filter((each) => each !== open),
    open.replace('sent', outcome),
  )
  return outcome === 'sent' ? null : restoredPublication({ ...state, db: { ...state.db, docs: others } }, doc)
}

function outcomeOf({ chain }: State, tx: string): string {
  return chain[tx] === 'confirmed' ? 'landed' : OUTCOMES.includes(chain[tx]!) ? chain[tx]! : 'sent'
}

const OUTCOMES = ['finalized', 'expired']
