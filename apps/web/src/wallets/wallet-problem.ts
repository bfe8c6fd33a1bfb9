import { texts as t } from '#texts/wallets'
import { WalletError, wordsOf } from './wallet.ts'

/** The problem with a wallet, and the next step. */
export function walletProblem(error: unknown): string {
  if (!(error instanceof WalletError)) return [t.problems.other, wordsOf(error)].filter(Boolean).join(' ')
  const words = error.problem === 'other' ? wordsOf(error.cause) : ''
  return words ? `${t.problems.other} ${t.message(words)}` : t.problems[error.problem]
}
