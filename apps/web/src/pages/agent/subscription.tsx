import { useSignal } from '@preact/signals'
import type { Subscription, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { PaymentLeg } from '@svc/api/quote'
import type { PurchaseRecord } from '@svc/sdk'
import { useEffect, useId, useMemo } from 'preact/hooks'
import { texts } from '#texts/agent'
import { common } from '#texts/common'
import { texts as paying } from '#texts/paying'
import { AskPayer } from '../../paying/ask-payer.tsx'
import { type Problem, problemOf } from '../../paying/problem.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { networkTitle, shortAmount } from '../../ui/names.ts'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Status } from '../../ui/status.tsx'
import { explainAgent } from './problems.ts'
import type { AgentSession } from './service.ts'
import { createSubscribing, isUnanswered, type Paid, readStarted } from './subscribing.ts'

const t = texts.subscription

interface SubscriptionProps {
  session: AgentSession
  subscription: Subscription | null
  /** The subscription after a payment; null if it must be read again. */
  onPaid: (subscription: Subscription | null) => void
}

export function SubscriptionCard({ session, subscription, onPaid }: SubscriptionProps) {
  const started = useSignal<PurchaseRecord | null>(null)
  const quote = useSignal<SubscriptionQuote | null>(null)
  const message = useSignal('')
  const failure = useSignal<Problem | null>(null)
  const subscribing = useMemo(() => createSubscribing(session), [])
  const { value: doing } = subscribing.doing
  const asking = useAction(explainAgent)
  const findStarted = async () => {
    started.value = await readStarted(session).catch(() => null)
  }
  useEffect(() => {
    void findStarted()
    return subscribing.stop
  }, [])

  const ask = () =>
    asking.run(async () => {
      message.value = ''
      failure.value = null
      quote.value = await session.agent.quote()
    })
  const work = async (outcome: Promise<Paid>) => {
    failure.value = null
    message.value = ''
    void findStarted()
    try {
      const paid = await outcome
      if (paid.outcome === 'stopped') return
      if (paid.outcome === 'subscribed') {
        quote.value = null
        message.value = t.done(texts.day(paid.subscription.expires_at))
        onPaid(paid.subscription)
      } else if (paid.outcome === 'elsewhere') {
        quote.value = null
        message.value = t.paidElsewhere
        onPaid(null)
      } else message.value = t.started.voided
    } catch (error) {
      failure.value = await problemOf(error)
    } finally {
      await findStarted()
    }
  }

  return (
    <Card title={t.title} aside={<SubscriptionStatus subscription={subscription} />}>
      <div class="stack">
        <p>{stateText(subscription)}</p>
        <div role="status">
          {message.value && <p class="note note-good">{message.value}</p>}
          {doing && (
            <div class="agent-doing">
              <span class="spinner" aria-hidden="true" />
              <p>
                {t.doing[doing]} {doing !== 'checking' && <span class="soft">{t.safe}</span>}
              </p>
            </div>
          )}
        </div>
        {failure.value && <ProblemNote problem={{ ...failure.value, code: null }} />}
        {failure.value?.tx && (
          <p>
            {paying.pasted.tx} <code>{failure.value.tx}</code>
          </p>
        )}
        {asking.problem && <ProblemNote problem={asking.problem} />}
        {doing === 'wallet' && (
          <div class="row">
            <Button kind="quiet" onClick={() => void work(subscribing.settle())}>
              {paying.ask.noRequest}
            </Button>
          </div>
        )}
        {(doing === null || doing === 'looking') &&
          (started.value ? (
            <StartedPayment
              record={started.value}
              onCheck={() => void work(subscribing.settle())}
              onTransaction={(tx) => void work(subscribing.confirmTransaction(tx))}
              onNothing={() => void work(subscribing.nothingWasSent())}
            />
          ) : quote.value ? (
            <Legs
              session={session}
              quote={quote.value}
              onPay={(leg) => void work(subscribing.pay(quote.value as SubscriptionQuote, leg))}
              onAnother={() => void ask()}
            />
          ) : (
            <div class="row">
              <Button
                kind={subscription?.status === 'active' ? 'plain' : 'primary'}
                busy={asking.isBusy}
                onClick={() => void ask()}
              >
                {subscription?.status === 'active' ? t.extend : t.subscribe}
              </Button>
            </div>
          ))}
      </div>
    </Card>
  )
}

function SubscriptionStatus({ subscription }: { subscription: Subscription | null }) {
  if (!subscription) return <Status tone="neutral">{t.none}</Status>
  return subscription.status === 'active' ? (
    <Status tone="good">{t.active}</Status>
  ) : (
    <Status tone="warn">{t.expired}</Status>
  )
}

function stateText(subscription: Subscription | null): string {
  if (!subscription) return t.noneText
  const day = texts.day(subscription.expires_at)
  return subscription.status === 'active' ? t.until(day) : t.since(day)
}

interface LegsProps {
  session: AgentSession
  quote: SubscriptionQuote
  onPay: (leg: PaymentLeg) => void
  onAnother: () => void
}

/** The ways to pay with the connected wallet. */
function Legs({ session, quote, onPay, onAnother }: LegsProps) {
  const legs = quote.accepts.filter(({ network }) => network.startsWith(`${session.wallet.namespace}:`))
  const chosen = useSignal(0)
  const name = useId()
  const fees = useFees(session, quote, legs)
  const leg = legs[chosen.value] ?? legs[0]
  if (!leg) return <p>{t.noLeg}</p>
  return (
    <div class="stack">
      <fieldset class="agent-legs">
        <legend>
          {t.legs} · {common.dollars(quote.extensions.svc.price_summary.total_usd)}
        </legend>
        {legs.map((one, i) => (
          <label key={one.asset}>
            <input
              type="radio"
              name={name}
              checked={one === leg}
              onChange={() => {
                chosen.value = i
              }}
            />
            <b>
              {shortAmount(one.extra.human_amount)} {one.extra.name}
            </b>
            <span class="soft">
              {networkTitle(one.network)} · {fees[i] ?? '…'}
            </span>
          </label>
        ))}
      </fieldset>
      <p class="field-hint">{t.owner}</p>
      <div class="row">
        <Button kind="primary" onClick={() => onPay(leg)}>
          {t.pay(shortAmount(leg.extra.human_amount), leg.extra.name)}
        </Button>
        <Button kind="quiet" onClick={onAnother}>
          {t.another}
        </Button>
      </div>
    </div>
  )
}

/** The network fee of each leg, as text. */
function useFees(session: AgentSession, quote: SubscriptionQuote, legs: readonly PaymentLeg[]) {
  const fees = useSignal<Readonly<Record<number, string>>>({})
  const { pay_req_id } = quote.extensions.svc.info
  useEffect(() => {
    let isGone = false
    fees.value = {}
    const load = async () => {
      const { amountText } = await import('@svc/sdk/money')
      const payer = session.wallet.payerAt(session.node)
      await Promise.all(
        legs.map(async (leg, i) => {
          const fee = await payer.fee?.(leg).catch(() => null)
          const text = fee ? t.fee(`${amountText(fee.amount, fee.decimals)} ${fee.ticker}`) : t.feeUnknown
          if (!isGone) fees.value = { ...fees.value, [i]: text }
        }),
      )
    }
    void load()
    return () => {
      isGone = true
    }
  }, [pay_req_id])
  return fees.value
}

interface StartedPaymentProps {
  record: PurchaseRecord
  onCheck: () => void
  onTransaction: (tx: string) => void
  onNothing: () => void
}

/** A payment whose outcome is unknown. */
function StartedPayment({ record, onCheck, onTransaction, onNothing }: StartedPaymentProps) {
  const sent = record.attempts.at(-1)?.payment.tx
  return (
    <>
      <div class="note note-warn stack">
        <b>{t.started.title}</b>
        <p>{t.started.text}</p>
        {sent && <code>{sent}</code>}
        <div class="row">
          <Button kind="primary" onClick={onCheck}>
            {t.started.look}
          </Button>
        </div>
      </div>
      {isUnanswered(record) && (
        <section class="stack" aria-label={paying.ask.title}>
          <h3>{paying.ask.title}</h3>
          <AskPayer onTransaction={onTransaction} onNothing={onNothing} />
        </section>
      )}
    </>
  )
}
