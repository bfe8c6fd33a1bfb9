// What is explored: bounds for the gate, larger ones for the night, and the faults that the checker must notice.

import type { Bounds } from './state.ts'

const NONE = { quotes: 0, payments: 0, statements: 0, anchors: 0, crash: 0, restore: 0, fork: 0, drop: 0, expire: 0 } as const
const ONE_MACHINE = { ...NONE, processes: 2, machines: 1, docs: [] } as const satisfies Bounds
const TWO_MACHINES = { ...ONE_MACHINE, machines: 2 } as const
const QUOTED = { payments: 1, docs: ['quote q1', 'quote q2'] }
const ATTESTED = { docs: ['statement 1p0@0 1 '] }

export const SCENARIOS: Readonly<Record<string, Bounds>> = {
  purchases: { ...ONE_MACHINE, ...QUOTED, crash: 1, restore: 1, fork: 1 },
  'payments of one quote': { ...ONE_MACHINE, payments: 2, docs: ['quote q1'], fork: 1 },
  'purchases on two machines': { ...TWO_MACHINES, quotes: 1, payments: 1, restore: 1 },
  statements: { ...ONE_MACHINE, statements: 2, crash: 1, restore: 1 },
  'statements on two machines': { ...TWO_MACHINES, ...ATTESTED, statements: 2, restore: 1 },
  anchors: { ...ONE_MACHINE, ...ATTESTED, anchors: 2, crash: 1, fork: 1, expire: 1 },
  'anchors of a restored database': {
    ...ONE_MACHINE,
    ...ATTESTED,
    anchors: 2,
    processes: 1,
    crash: 1,
    restore: 1,
    expire: 1,
  },
}

export const AT_NIGHT: Readonly<Record<string, Bounds>> = {
  purchases: { ...ONE_MACHINE, ...QUOTED, payments: 2, crash: 1, restore: 1, fork: 1 },
  'purchases on two machines': { ...TWO_MACHINES, ...QUOTED, crash: 1, restore: 1 },
  statements: { ...ONE_MACHINE, statements: 3, crash: 2, restore: 1 },
  'statements on two machines': { ...TWO_MACHINES, statements: 2, crash: 1, restore: 1 },
  anchors: { ...ONE_MACHINE, ...ATTESTED, statements: 2, anchors: 3, fork: 1, drop: 1, expire: 1 },
  'anchors of a restored database': {
    ...ONE_MACHINE,
    ...ATTESTED,
    anchors: 2,
    crash: 1,
    restore: 1,
    fork: 1,
    expire: 1,
  },
}

/** The scenario that shows each fault, and the promise that it breaks. */
export const MUTANTS = {
  'skips the gate': ['statements', 'a sequence has one statement'],
  'asks the gate before the transaction only': ['statements on two machines', 'a sequence has one statement'],
  'waits for no other journal': ['statements on two machines', 'a process that signs has all that was answered'],
  'answers before the journal': ['purchases', 'an answered receipt survives'],
  'shows what another process committed without the journal': ['purchases', 'an answered receipt survives'],
  'shows what a lost server had': ['purchases on two machines', 'an answered receipt survives'],
  'commits without the names of documents': ['purchases', 'an answered receipt survives'],
  'claims without the unique key': ['purchases', 'one payment has one receipt'],
  'accepts a payment that is processed': ['purchases', 'a receipt has its payment'],
  'refuses a second payment before recording it': [
    'payments of one quote',
    'a payment without a receipt is recorded for refund',
  ],
  'replays a document twice': ['purchases', 'one payment has one receipt'],
  'reads the sequence outside the transaction': ['statements', 'a sequence has one statement'],
  'signs before the journal has the predecessor': ['statements', 'an answered statement is chained'],
  'sends before the signature is stored': ['anchors', 'a statement is anchored once'],
  'has no index of open transactions': ['anchors', 'a statement is anchored once'],
  'takes not found for expired': ['anchors', 'a statement is anchored once'],
  'resends without the journal': ['anchors of a restored database', 'a sent transaction is recorded'],
} as const

export type Mutant = keyof typeof MUTANTS
