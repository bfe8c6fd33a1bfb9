import type { Transaction } from '@solana/kit'
import type { LiteSVM } from 'litesvm'

/** Runs a transaction without keeping what it does. */
export function dryRun(svm: LiteSVM, transaction: Transaction, verifySignatures: boolean) {
  svm.withSigverify(verifySignatures)
  try {
    return svm.simulateTransaction(transaction)
  } finally {
    svm.withSigverify(true)
  }
}
