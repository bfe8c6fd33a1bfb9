// One purchase: quote, payment, claim (purchases/claim.ts, selling/confirm.ts). Any payment may pay any quote; those
// that name their quote have fewer choices.

import { hasKey, kindOf, withAll, word } from './documents.ts'
import {
  commit,
  isWaiting,
  type Model,
  type OnChain,
  type State,
  type Step,
  setOnChain,
  spend,
  type Turn,
} from './state.ts'

export const purchases = [quote, readPayment, claim]

/** Quotes are alike, so they are made in one order; so are payments. */
export function pay(state: State, { bounds }: Model): Step[] {
  const { chain, left } = state
  const sent = Object.keys(chain).filter((tx) => tx.startsWith('t'))
  const isDue = sent.length < bounds.payments && hasKey(state.db.docs, 'quote q1')
  const moves = sent.flatMap((tx): Step[] => {
    if (chain[tx] === 'pool') return [setOnChain(state, 'process', tx, 'processed')]
    if (chain[tx] !== 'processed') return []
    const fork = left.fork > 0 ? [setOnChain(spend(state, 'fork'), 'fork', tx, 'pool')] : []
    return [setOnChain(state, 'confirm', tx, 'confirmed'), ...fork]
  })
  // A chain that never forks need not be watched.
  const first = bounds.fork > 0 ? 'pool' : 'confirmed'
  return isDue ? [...moves, setOnChain(state, 'pay', `t${sent.length + 1}`, first)] : moves
}

function quote({ state, gate, operation, step, model }: Turn): Step[] {
  const made = kindOf(state.db.docs, 'quote').length
  if (operation || gate !== 'current' || made >= model.bounds.quotes) return []
  const docs = withAll(state.db.docs, `quote q${made + 1}`)
  return step('quote', `q${made + 1}`, { ...state, db: { ...state.db, docs } }, null)
}

function readPayment({ state, gate, history, operation, step, model }: Turn): Step[] {
  if (operation || model.bounds.payments === 0) return []
  const { db, chain } = state
  const final: OnChain[] = ['confirmed']
  if (model.mutant === 'accepts a payment that is processed') final.push('processed')
  return kindOf(db.docs, 'quote').flatMap((row) =>
    Object.keys(chain).flatMap((tx): Step[] => {
      const of = `${word(row, 1)}/${tx}`
      const bought = db.docs.find((doc) => doc === `receipt ${of}`)
      const begun = { of, after: 'answer', history } as const
      if (bought) return step('readPayment', of, state, { ...begun, doc: bought, at: 'requireWritten' })
      if (gate !== 'current' || !final.includes(chain[tx]!)) return []
      return step('readPayment', of, state, { ...begun, doc: '', at: 'claim' })
    }),
  )
}

/** One transaction: the claim on the payment and the receipt, or the record of a second payment. */
function claim(turn: Turn): Step[] {
  const { state, operation, step } = turn
  const { mutant } = turn.model
  if (operation?.at !== 'claim' || isWaiting(turn)) return []
  const { of } = operation
  const [id, tx] = of.split('/') as [string, string]
  const receipts = kindOf(state.db.docs, 'receipt')
  const bought = receipts.find((doc) => doc.startsWith(`receipt ${id}/`))
  const isClaimed = receipts.some((doc) => word(doc, 1).endsWith(`/${tx}`))
  const unclaimed = kindOf(state.db.docs, 'unclaimed').find((doc) => word(doc, 1) === tx)
  const show = (doc: string, at: string) => step('claim', of, state, { ...operation, doc, at })
  const write = (doc: string) => {
    const written = commit(turn, doc)
    return step('claim', of, written ?? state, written && { ...operation, doc, at: 'recordInJournal' })
  }
  if (bought && word(bought, 1) === of) return show(bought, 'requireWritten')
  if (isClaimed && mutant !== 'claims without the unique key') return step('claim', of, state, null)
  if (!bought) return write(`receipt ${of}`)
  if (unclaimed) return show(unclaimed, 'requireWritten')
  const second = `unclaimed ${tx} ${id}`
  return mutant === 'refuses a second payment before recording it' ? show(second, 'answer') : write(second)
}
