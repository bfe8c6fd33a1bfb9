// Faults that the model can have. Each breaks one rule of the code, and the checker must notice.

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
