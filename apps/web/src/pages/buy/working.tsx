// While something happens that the page waits for, and where its outcome is not certain.

import { useSignal } from '@preact/signals'
import { texts } from '#texts/buy'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import type { Checkout, Doing } from './checkout.ts'
import { PastedTransaction } from './outside.tsx'
import { Notice } from './pay.tsx'
import type { Problem } from './problem.ts'

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
            {t.noRequest}
          </Button>
        </div>
      )}
      {doing === 'sending' && (
        <div class="row row-middle">
          <Button kind="quiet" onClick={() => void checkout.doubt()}>
            {t.tooLong}
          </Button>
        </div>
      )}
      {doing === 'looking' && <AskPayer checkout={checkout} />}
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
      {isUnanswered && problem.money !== 'moved' && <AskPayer checkout={checkout} />}
    </div>
  )
}

/** Only the payer's wallet knows whether it has sent what it was asked to. */
function AskPayer({ checkout }: { checkout: Checkout }) {
  const t = texts.unsettled
  const isSure = useSignal(false)
  return (
    <Card title={t.askTitle}>
      <div class="stack">
        <p>{t.ask}</p>
        <PastedTransaction checkout={checkout} leg={null} />
        <hr />
        <label class="sure">
          <input
            type="checkbox"
            checked={isSure.value}
            onChange={(event) => {
              isSure.value = event.currentTarget.checked
            }}
          />
          {t.sure}
        </label>
        <div class="row">
          <Button disabled={!isSure.value} onClick={() => void checkout.nothingWasSent()}>
            {t.nothing}
          </Button>
        </div>
      </div>
    </Card>
  )
}
