// The page while it waits for a step, and while an outcome is unknown.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/buy'
import { texts as paying } from '#texts/paying'
import { AskPayer } from '../../paying/ask-payer.tsx'
import type { Problem } from '../../paying/problem.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import type { Doing } from './active-purchase.ts'
import type { Checkout } from './checkout.ts'
import { Notice } from './pay.tsx'

export function Working({ checkout, doing }: { checkout: Checkout; doing: Doing }) {
  const t = texts.working
  return (
    <div class="stack">
      <div class="working" role="status">
        <span class="spinner" aria-hidden="true" />
        <p>{t[doing]}</p>
        {doing === 'wallet' && <p class="field-hint">{t.walletHint}</p>}
        {(doing === 'sending' || doing === 'confirming') && <p class="field-hint">{t.safe}</p>}
      </div>
      {doing === 'wallet' && (
        <div class="row row-middle">
          <Button kind="quiet" onClick={() => void checkout.settle()}>
            {paying.ask.noRequest}
          </Button>
        </div>
      )}
      {doing === 'sending' && <StopWaiting onStop={() => void checkout.stopWaiting()} />}
      {doing === 'looking' && <AskCard checkout={checkout} />}
    </div>
  )
}

/** Most payments are on the chain earlier. */
const LATE_MS = 15_000

function StopWaiting({ onStop }: { onStop: () => void }) {
  const isLate = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      isLate.value = true
    }, LATE_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isLate.value) return null
  return (
    <div class="row row-middle">
      <Button kind="quiet" onClick={onStop}>
        {texts.working.tooLong}
      </Button>
    </div>
  )
}

interface UnsettledProps {
  checkout: Checkout
  problem: Problem
  isUnanswered: boolean
}

export function Unsettled({ checkout, problem, isUnanswered }: UnsettledProps) {
  const t = texts.unsettled
  return (
    <div class="stack">
      <Notice problem={problem} />
      <div class="row">
        <Button kind="primary" onClick={() => void checkout.settle()}>
          {t.look}
        </Button>
      </div>
      {isUnanswered && problem.money !== 'moved' && <AskCard checkout={checkout} />}
    </div>
  )
}

function AskCard({ checkout }: { checkout: Checkout }) {
  return (
    <Card title={paying.ask.title}>
      <AskPayer
        onTransaction={(tx) => void checkout.confirmTransaction(tx, null)}
        onNothing={() => void checkout.nothingWasSent()}
      />
    </Card>
  )
}
