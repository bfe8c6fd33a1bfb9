// Problems with a payment, as the page shows them.

import type { Money } from '@svc/sdk'
import { texts } from '#texts/paying'
import { WalletError, wordsOf } from '../wallets/wallet.ts'
import { walletProblem } from '../wallets/wallet-problem.ts'

const t = texts.problems

export interface Problem {
  title: string
  text: string
  money: Money
  /** The transaction, if it is known. */
  tx: string | null
}

export async function problemOf(error: unknown): Promise<Problem> {
  const { GatewayError, isShortage, NoAnswer, PaymentError } = await import('@svc/sdk')
  const { money, tx } = error instanceof PaymentError ? error : { money: 'not_moved' as const, tx: null }
  const about = { money, tx }
  const cause = error instanceof PaymentError ? error.cause : error
  const words = wordsOf(error)
  if (money === 'may_have_moved' && !(cause instanceof GatewayError)) return { ...about, ...t.unknown }
  if (cause instanceof WalletError) return { ...about, title: t.wallet, text: walletProblem(cause) }
  if (cause instanceof GatewayError) {
    const message = [sentence(wordsOf(cause)), cause.hint && sentence(cause.hint)].filter(Boolean).join(' ')
    if (cause.code === 'quote_expired')
      return { ...about, title: t.expired.title, text: tx ? t.expiredAfterPaying : t.expired.text }
    if (cause.code === 'tx_not_found') return { ...about, ...t.notFound, money: 'may_have_moved' }
    return { ...about, title: money === 'moved' ? t.refused : t.gateway, text: message }
  }
  if (cause instanceof NoAnswer) return { ...about, ...t.noAnswer }
  if (isShortage(words)) return { ...about, title: t.short.title, text: t.short.text(sentence(words)) }
  if (/expires too soon/.test(words)) return { ...about, ...t.expired }
  if (/not approved/.test(words)) return { ...about, ...t.changed }
  return { ...about, title: money === 'moved' ? t.refused : t.other, text: sentence(words) }
}

export function unknownOutcome(): Problem {
  return { ...t.unknown, money: 'may_have_moved', tx: null }
}

function sentence(text: string): string {
  const words = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(words) ? words : `${words}.`
}
