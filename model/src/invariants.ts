// What must never go wrong, in the words of docs/promises.md. Each returns what breaks it, or null.

import { hasKey, keyOf, kindOf, word } from './documents.ts'
import type { State } from './state.ts'

export const INVARIANTS: Readonly<Record<string, (state: State) => string | null>> = {
  'one payment has one receipt': ({ db, answered }) => {
    const rows = kindOf(db.docs, 'receipt')
    const shown = kindOf(answered, 'receipt').filter((doc) => !rows.includes(doc))
    return repeated([...rows, ...shown].flatMap((doc) => word(doc, 1).split('/')))
  },
  'a receipt has its payment': ({ db, answered, chain }) => {
    const receipts = kindOf([...db.docs, ...answered], 'receipt')
    return receipts.find((doc) => chain[word(doc, 1).split('/')[1]!] !== 'confirmed') ?? null
  },
  'an answered receipt survives': (state) => lost(state, 'receipt'),
  'a payment without a receipt is recorded for refund': (state) => lost(state, 'unclaimed'),
  'a sequence has one statement': ({ answered }) =>
    repeated(kindOf(answered, 'statement').map((doc) => `statement ${word(doc, 2)}`)),
  'an answered statement is chained': (state) => {
    const { answered, db, journals } = state
    const digests = [...db.docs, ...journals.flat()].map((doc) => word(doc, 1))
    const shown = kindOf(answered, 'statement')
    return shown.find((doc) => word(doc, 3) !== '' && !digests.includes(word(doc, 3))) ?? lost(state, 'statement')
  },
  'a process that signs has all that was answered': ({ processes, history, db, answered }) => {
    const isOpen = processes.some((each) => each.gate === 'current' && each.history === history)
    return (isOpen && answered.find((doc) => !hasKey(db.docs, keyOf(doc)))) || null
  },
  'a sent transaction is recorded': (state) => lost(state, 'publication'),
  'a statement is anchored once': ({ chain, db, answered, journals, processes }) => {
    const docs = [
      ...db.docs,
      ...answered,
      ...journals.flat(),
      ...processes.map(({ operation }) => operation?.doc ?? ''),
    ]
    const live = Object.keys(chain).filter((tx) => !['signed', 'expired'].includes(chain[tx]!))
    const digestOf = (tx: string) => word(docs.find((doc) => keyOf(doc) === `publication ${tx}`) ?? '', 2)
    return repeated(live.filter((tx) => tx.startsWith('a')).map(digestOf))
  },
}

function repeated(words: readonly string[]): string | null {
  return words.find((each, i) => words.indexOf(each) < i) ?? null
}

/** What was answered is in the database, or in a journal, from where a replay restores it. */
function lost({ answered, db, journals }: State, kind: string): string | null {
  const isKnown = (doc: string) => [db.docs, ...journals].some((docs) => hasKey(docs, keyOf(doc)))
  return kindOf(answered, kind).find((doc) => !isKnown(doc)) ?? null
}
