// Failures in words: what went wrong, and what to do next.

import { useSignal } from '@preact/signals'
import { adviceOn, PAGE_ADVICE } from '@svc/api/error-advice'
import { GatewayError, NoAnswer, UntrueAnswer } from '@svc/sdk/errors'
import { printable } from '@svc/verifier/untrusted'
import { common } from '#texts/common'
import { texts as t } from '#texts/problems'
import { problemOf, WalletError, wordsOf } from '../wallets/wallet.ts'
import { Button } from './button.tsx'

export interface Problem {
  title: string
  text: string
  code: string | null
}

export function explain(error: unknown): Problem {
  const code = error instanceof GatewayError ? error.code : null
  const [title = '', text = ''] = wordsFor(error)
  return { title: shown(title), text: shown(text), code }
}

function wordsFor(error: unknown): readonly string[] {
  if (error instanceof GatewayError) {
    const { code, status, message, hint, retryAfter } = error
    if (code === 'RATE_LIMITED' && retryAfter !== null) return t.busy(retryAfter)
    return adviceOn(PAGE_ADVICE, code) ?? (status >= 502 ? t.unavailable : t.other(message, hint))
  }
  if (error instanceof NoAnswer) return t.noAnswer
  if (error instanceof UntrueAnswer) return t.untrue(error.message)
  if (problemOf(error) === 'rejected') return t.declined
  return error instanceof WalletError ? t.walletFailed(wordsOf(error)) : t.other(wordsOf(error), null)
}

/** Texts from a gateway or a wallet are untrusted. */
function shown(text: string): string {
  return printable(text, 400)
}

export function ProblemNote({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="note note-bad" role="alert">
      <b>{problem.title}</b>
      <p>{problem.text}</p>
      {retry && (
        <div class="row">
          <Button onClick={retry}>{common.states.retry}</Button>
        </div>
      )}
    </div>
  )
}

/** An action that a click starts: it runs once at a time, and its problem is shown. */
export function useAction(inWords: (error: unknown) => Problem = explain) {
  const isBusy = useSignal(false)
  const problem = useSignal<Problem | null>(null)
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = null
    try {
      await work()
    } catch (error) {
      problem.value = inWords(error)
    } finally {
      isBusy.value = false
    }
  }
  return { isBusy: isBusy.value, problem: problem.value, run }
}
