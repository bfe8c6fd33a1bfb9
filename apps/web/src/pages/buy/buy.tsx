import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { texts as t } from '#texts/buy'
import { urlOf } from '../../address.ts'
import { MAX_UNITS, PriceCalculator } from '../../price/calculator.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Stage } from './active-purchase.ts'
import { type Checkout, createCheckout } from './checkout.ts'
import { EarlierPurchases } from './earlier.tsx'
import { parseHash, RECEIPT_ID, type Wanted } from './hash.ts'
import { Notice, Pay } from './pay.tsx'
import { ReceiptView } from './receipt.tsx'
import { Unsettled, Working } from './working.tsx'
import './buy.css'

export default function Buy() {
  const checkout = useMemo(createCheckout, [])
  const wanted = useSignal<Wanted>(parseHash(location.hash))
  useEffect(() => {
    document.title = t.title
    const follow = () => {
      wanted.value = parseHash(location.hash)
      const { purchase } = wanted.value
      if (!purchase) checkout.reset()
      else if (checkout.purchase.peek()?.id !== purchase) void checkout.open(purchase)
    }
    follow()
    addEventListener('hashchange', follow)
    return () => {
      removeEventListener('hashchange', follow)
      checkout.reset()
    }
  }, [])
  const { value: purchase } = checkout.purchase
  useEffect(() => {
    // A reload then finds this purchase.
    if (purchase && parseHash(location.hash).purchase !== purchase.id)
      history.pushState(null, '', urlOf(`/buy#purchase=${purchase.id}`))
  }, [purchase?.id])
  const { value: stage } = checkout.stage
  const isRenewal = Boolean(purchase?.order.extends ?? wanted.value.extends)
  return (
    <div class="wide buy">
      <header class="buy-head">
        <h1>{isRenewal ? t.renewTitle : t.title}</h1>
        <p class="lead">{isRenewal ? t.renewLead : t.lead}</p>
      </header>
      <Stepper stage={stage} />
      <CurrentStage checkout={checkout} stage={stage} wanted={wanted.value} />
      {stage.at === 'choose' && <EarlierPurchases checkout={checkout} />}
    </div>
  )
}

const STEPS = ['choose', 'pay', 'confirm', 'receipt'] as const

function stepOf(stage: Stage): number {
  switch (stage.at) {
    case 'choose':
    case 'gone':
      return 0
    case 'pay':
      return 1
    case 'working':
      return { quote: 0, checking: 1, wallet: 1, other_tab: 1, sending: 2, confirming: 2, looking: 2 }[stage.doing]
    case 'unsettled':
      return 2
    case 'done':
      return 3
  }
}

function Stepper({ stage }: { stage: Stage }) {
  const now = stepOf(stage)
  return (
    <ol class="stepper" aria-label={t.steps.label}>
      {STEPS.map((step, i) => (
        <li
          key={step}
          class={i < now || stage.at === 'done' ? 'is-done' : ''}
          aria-current={i === now ? 'step' : undefined}
        >
          <span class="step-mark" aria-hidden="true">
            {i < now || stage.at === 'done' ? <Icon name="check" /> : i + 1}
          </span>
          {t.steps[step]}
        </li>
      ))}
    </ol>
  )
}

function CurrentStage({ checkout, stage, wanted }: { checkout: Checkout; stage: Stage; wanted: Wanted }) {
  const place = useRef<HTMLDivElement>(null)
  const first = useRef(true)
  useEffect(() => {
    // Move the focus of screen readers to the new part of the page.
    if (!first.current) place.current?.focus()
    first.current = false
  }, [stage.at])
  return (
    <div ref={place} tabIndex={-1} class="stage">
      {stage.at === 'choose' && <Choose checkout={checkout} stage={stage} wanted={wanted} />}
      {stage.at === 'pay' && <Pay checkout={checkout} problem={stage.problem} />}
      {stage.at === 'working' && <Working checkout={checkout} doing={stage.doing} />}
      {stage.at === 'unsettled' && <Unsettled checkout={checkout} {...stage} />}
      {stage.at === 'done' && <ReceiptView receipt={stage.receipt} />}
      {stage.at === 'gone' && <Gone />}
    </div>
  )
}

function Gone() {
  return (
    <div class="state">
      <Empty title={t.gone.title} text={t.gone.text} />
      <a class="button" href="#new">
        {t.gone.action}
      </a>
    </div>
  )
}

interface ChooseProps {
  checkout: Checkout
  stage: Extract<Stage, { at: 'choose' }>
  wanted: Wanted
}

function Choose({ checkout, stage, wanted }: ChooseProps) {
  return (
    <>
      {stage.problem && <Notice problem={stage.problem} />}
      {wanted.extends === null ? (
        <PriceCalculator
          key={`${wanted.units} ${wanted.provider}`}
          title={t.choose.title}
          initial={wanted}
          action={({ units, provider }) => (
            <Button kind="primary" onClick={() => void checkout.begin({ units, ...(provider && { provider }) })}>
              {t.choose.next}
              <Icon name="arrow" />
            </Button>
          )}
        />
      ) : (
        <RenewalForm checkout={checkout} wanted={wanted} />
      )}
    </>
  )
}

/** The price of a renewal depends on the locker, so it comes with the quote. */
function RenewalForm({ checkout, wanted }: { checkout: Checkout; wanted: Wanted }) {
  const units = useSignal(wanted.units)
  const receipt = useSignal(wanted.extends ?? '')
  const isReceipt = RECEIPT_ID.test(receipt.value.trim())
  return (
    <Card title={t.choose.title}>
      <form
        class="stack narrow"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReceipt) void checkout.begin({ units: units.value, extends: receipt.value.trim() })
        }}
      >
        <Field label={t.choose.extends} error={isReceipt || !receipt.value ? null : t.choose.wrongReceipt}>
          {(control) => (
            <input
              {...control}
              spellcheck={false}
              autocomplete="off"
              value={receipt.value}
              onInput={(event) => {
                receipt.value = event.currentTarget.value
              }}
            />
          )}
        </Field>
        <Field label={t.choose.units} hint={t.choose.unitsHint}>
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              max={MAX_UNITS}
              value={units.value}
              onInput={(event) => {
                const number = Math.trunc(Number(event.currentTarget.value))
                if (number >= 1 && number <= MAX_UNITS) units.value = number
              }}
            />
          )}
        </Field>
        <div class="row">
          <Button kind="primary" type="submit" disabled={!isReceipt}>
            {t.choose.next}
            <Icon name="arrow" />
          </Button>
        </div>
      </form>
    </Card>
  )
}
