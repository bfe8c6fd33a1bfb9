// Statements on chain (publication/publisher.ts): signed, recorded, journaled, sent; and the watch that finds outcomes.

import { kindOf, withAll, word } from './documents.ts'
import {
  commit,
  isWaiting,
  newestStatement,
  type OnChain,
  type State,
  type Step,
  setOnChain,
  spend,
  statementOf,
  type Turn,
} from './state.ts'

export const anchors = [sign, record, send, watch, recordOutcome]

const OPEN: readonly (OnChain | undefined)[] = ['signed', 'pool', 'lost']

/** The chain lands, drops and forks. Expiry is a matter of time, in which everything else becomes final. */
export function moveChain(state: State): Step[] {
  const { chain, left } = state
  const signed = Object.keys(chain).filter((tx) => tx.startsWith('a'))
  const open = signed.filter((tx) => OPEN.includes(chain[tx]))
  const ended = signed.map((tx) => [
    tx,
    chain[tx] === 'confirmed' ? 'finalized' : open.includes(tx) ? 'expired' : chain[tx],
  ])
  const late = { ...spend(state, 'expire'), chain: { ...chain, ...Object.fromEntries(ended) } }
  const moves = signed.flatMap((tx): Step[] => {
    const lose = (why: 'drop' | 'fork') => (left[why] > 0 ? [setOnChain(spend(state, why), why, tx, 'lost')] : [])
    if (chain[tx] === 'pool') return [setOnChain(state, 'land', tx, 'confirmed'), ...lose('drop')]
    return chain[tx] === 'confirmed' ? [setOnChain(state, 'finalize', tx, 'finalized'), ...lose('fork')] : []
  })
  const isDue = open.length > 0 && left.expire > 0
  return isDue ? [...moves, { action: 'expire', actor: null, about: '', next: late }] : moves
}

function hasOpen({ db }: State): boolean {
  return kindOf(db.docs, 'publication').some((each) => word(each, 3) === 'sent')
}

export function isPublished({ db }: State, digest: string): boolean {
  return kindOf(db.docs, 'publication').some((each) => word(each, 2) === digest && word(each, 3) !== 'expired')
}

function sign({ state, operation, history, step, model }: Turn): Step[] {
  const { digest } = newestStatement(state)
  const count = Object.keys(state.chain).filter((tx) => tx.startsWith('a')).length
  const isDue = digest !== '' && !hasOpen(state) && !isPublished(state, digest) && count < model.bounds.anchors
  if (operation || !isDue) return []
  const of = `a${count + 1}`
  const doc = `publication ${of} ${digest} sent`
  const at = model.mutant === 'sends before the signature is stored' ? 'send' : 'record'
  const signed = { ...state, chain: { ...state.chain, [of]: 'signed' as const } }
  return step('sign', of, signed, { at, of, doc, after: 'send', history })
}

/** Two unique indexes: a receipt has one open transaction, and a statement one that may succeed. */
function record(turn: Turn): Step[] {
  const { state, operation, step, model } = turn
  if (operation?.at !== 'record' || isWaiting(turn)) return []
  const digest = word(operation.doc, 2)
  const isTaken = (hasOpen(state) || isPublished(state, digest)) && model.mutant !== 'has no index of open transactions'
  const written = isTaken || newestStatement(state).digest !== digest ? null : commit(turn, operation.doc)
  return step('record', operation.of, written ?? state, written && { ...operation, at: 'recordInJournal' })
}

/** The transaction makes its statement public. What a node has, or what cannot land, is not changed by it. */
function send({ before, operation, step, model }: Turn): Step[] {
  if (operation?.at !== 'send') return []
  const { doc, of } = operation
  const isNew = before.chain[of] === 'signed' || before.chain[of] === 'lost'
  const chain = isNew ? { ...before.chain, [of]: 'pool' as const } : before.chain
  if (model.mutant === 'sends before the signature is stored')
    return step('send', of, { ...before, chain }, { ...operation, at: 'record', after: 'end' })
  const answered = withAll(before.answered, keyOfSent(doc), ...statementOf(before, doc))
  return step('send', of, { ...before, chain, answered }, null)
}

/** The outcome of a transaction does not matter to those who saw it sent. */
function keyOfSent(publication: string): string {
  return `publication ${word(publication, 1)} ${word(publication, 2)} sent`
}

/** Asks the chain for the outcome of a recorded transaction; one that is pending is sent again. */
function watch({ state, operation, history, step, model: { mutant } }: Turn): Step[] {
  if (operation) return []
  return kindOf(state.db.docs, 'publication').flatMap((publication): Step[] => {
    const [of, digest, known] = [1, 2, 3].map((index) => word(publication, index)) as [string, string, string]
    const now = state.chain[of]
    const isGone = now === 'expired' || (mutant === 'takes not found for expired' && OPEN.includes(now))
    const found = isGone ? 'expired' : now === 'finalized' ? 'finalized' : now === 'confirmed' ? 'landed' : 'pending'
    if (!['sent', 'landed'].includes(known) || found === known) return []
    const begun = { of, history }
    if (found !== 'pending')
      return step('watch', of, state, {
        ...begun,
        at: 'recordOutcome',
        doc: `publication ${of} ${digest} ${found}`,
        after: 'end',
      })
    const at = mutant === 'resends without the journal' ? 'send' : 'requireWritten'
    return known === 'sent' ? step('watch', of, state, { ...begun, at, doc: publication, after: 'send' }) : []
  })
}

/** Once for all processes: the row must still be open. */
function recordOutcome(turn: Turn): Step[] {
  const { state, operation, step } = turn
  if (operation?.at !== 'recordOutcome' || isWaiting(turn)) return []
  const { doc, of } = operation
  const known = kindOf(state.db.docs, 'publication').find((each) => word(each, 1) === of)
  const isOpen = known !== undefined && ['sent', 'landed'].includes(word(known, 3)) && known !== doc
  const written = isOpen ? commit(turn, doc) : null
  return step('recordOutcome', of, written ?? state, written && { ...operation, at: 'recordInJournal' })
}
