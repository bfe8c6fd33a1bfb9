// The step where the buyer sees the price and pays it.

import { useSignal } from '@preact/signals'
import { preparePayment } from '@svc/api/payment'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { useEffect, useId } from 'preact/hooks'
import { texts } from '#texts/buy'
import { common } from '#texts/common'
import { texts as paying } from '#texts/paying'
import { PastedTransaction } from '../../paying/ask-payer.tsx'
import type { Problem } from '../../paying/problem.ts'
import { TermsList } from '../../price/calculator.tsx'
import { createSignedClient } from '../../signed-client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Term } from '../../ui/term.tsx'
import { WalletChooser, WalletIcon } from '../../wallets/choose-wallet.tsx'
import type { ConnectedWallet } from '../../wallets/wallet.ts'
import type { Checkout } from './checkout.ts'
import { PayByPhone, PayElsewhere } from './pay-elsewhere.tsx'
import { isPrimary, isSameLeg } from './steps.ts'

const t = texts.pay

export function Pay({ checkout, problem }: { checkout: Checkout; problem: Problem | null }) {
  const { value: purchase } = checkout.purchase
  const quote = purchase?.quotes.at(-1)
  const seconds = useSecondsLeft(quote?.extensions.svc.info.expires_at ?? '')
  useElsewhereChecks(checkout)
  if (!purchase || !quote) return null
  const { terms, price_summary, renewal } = quote.extensions.svc
  const leg = quote.accepts.find((one) => isSameLeg(one, checkout.leg.value)) ?? (quote.accepts[0] as PaymentLeg)
  const hasEnded = seconds === 0
  return (
    <div class="pay">
      {problem && <Notice problem={problem} />}
      <Card
        title={t.gives}
        aside={
          <a class="button button-quiet" href={orderHash(purchase.order)}>
            {t.changeOrder}
          </a>
        }
      >
        <div class="stack">
          {renewal ? (
            <dl class="terms">
              <Term name={texts.pay.until}>{new Date(renewal.expires_at).toLocaleDateString('en', LONG_DATE)}</Term>
              <Term name={t.renewed}>{common.bytes(renewal.storage_limit_bytes)}</Term>
            </dl>
          ) : (
            <TermsList terms={terms} />
          )}
          <div class="pay-total">
            <p class="total">
              <span>{t.total}</span> <b>{common.dollars(price_summary.total_usd)}</b>
            </p>
            {!hasEnded && (
              <p class="time-left">
                {t.timeLeft} <b role="timer">{t.left(seconds)}</b>
              </p>
            )}
          </div>
          {terms.environment === 'development' && <p class="field-hint">{t.development}</p>}
        </div>
      </Card>
      {hasEnded ? (
        <Ended checkout={checkout} isShownElsewhere={purchase.isShownElsewhere} />
      ) : (
        <>
          <Card title={t.title}>
            <Legs
              quote={quote}
              chosen={leg}
              onChoose={(next) => {
                checkout.leg.value = next
              }}
            />
          </Card>
          <Card title={t.how}>
            <Tabs
              label={t.how}
              chosen={checkout.method}
              tabs={[
                { name: t.wallet, content: <PayByWallet checkout={checkout} leg={leg} isRenewal={Boolean(renewal)} /> },
                { name: t.phone, content: <PayByPhone checkout={checkout} quote={quote} leg={leg} /> },
                { name: t.elsewhere, content: <PayElsewhere checkout={checkout} quote={quote} leg={leg} /> },
              ]}
            />
          </Card>
        </>
      )}
    </div>
  )
}

interface EndedProps {
  checkout: Checkout
  isShownElsewhere: boolean
}

/** The expired price. A timely payment outside of the page may still be found or pasted. */
function Ended({ checkout, isShownElsewhere }: EndedProps) {
  const isChecking = isShownElsewhere && !checkout.isSearchOver.value
  return (
    <Card title={paying.problems.expired.title}>
      <div class="stack">
        <p>{isChecking ? t.endedElsewhere : isShownElsewhere ? t.endedPermanently : t.ended}</p>
        <div class="row">
          <Button kind="primary" onClick={() => void checkout.renewQuote()}>
            {t.renew}
          </Button>
        </div>
        {isChecking && <PastedTransaction onTransaction={(tx) => void checkout.confirmTransaction(tx, null)} />}
      </div>
    </Card>
  )
}

/** The interval between two checks for a payment. */
const CHECK_MS = 3_000

/** Checks for a payment outside of the page while the gateway would accept one. */
function useElsewhereChecks(checkout: Checkout): void {
  const isChecking = Boolean(checkout.purchase.value?.isShownElsewhere) && !checkout.isSearchOver.value
  useEffect(() => {
    if (!isChecking) return
    const timer = setInterval(() => void checkout.checkElsewhere(), CHECK_MS)
    return () => clearInterval(timer)
  }, [isChecking])
}

const LONG_DATE = { year: 'numeric', month: 'long', day: 'numeric' } as const

function orderHash({ units, provider, extends: of }: { units: number; provider?: string; extends?: string }): string {
  return `#${new URLSearchParams({ units: String(units), ...(provider && { provider }), ...(of && { extends: of }) })}`
}

function useSecondsLeft(until: string): number {
  const left = () => Math.max(0, Math.ceil((Date.parse(until) - Date.now()) / 1000)) || 0
  const seconds = useSignal(left())
  useEffect(() => {
    seconds.value = left()
    const timer = setInterval(() => {
      seconds.value = left()
    }, 1_000)
    return () => clearInterval(timer)
  }, [until])
  return seconds.value
}

interface LegsProps {
  quote: Quote
  chosen: PaymentLeg
  onChoose: (leg: PaymentLeg) => void
}

function Legs({ quote, chosen, onChoose }: LegsProps) {
  const fees = useFees(quote)
  const name = useId()
  return (
    <fieldset class="legs">
      <legend class="quiet-text">{t.legs}</legend>
      <div class="legs-head" aria-hidden="true">
        <span>{t.asset}</span>
        <span>{t.network}</span>
        <span class="number">{t.amount}</span>
        <span class="number">{t.fee}</span>
      </div>
      {quote.accepts.map((leg) => (
        <label key={`${leg.network} ${leg.asset}`} class="leg">
          <input type="radio" name={name} checked={isSameLeg(leg, chosen)} onChange={() => onChoose(leg)} />
          <b>{leg.extra.name}</b>
          <span class="leg-network">{networkName(leg)}</span>
          <span class="number">
            {leg.extra.human_amount} <span class="quiet-text">{leg.extra.name}</span>
          </span>
          <span class="number leg-fee">
            <span class="quiet-text">{t.feeShort} </span>
            {fees[quote.accepts.indexOf(leg)] ?? '…'}
          </span>
        </label>
      ))}
    </fieldset>
  )
}

function networkName(leg: PaymentLeg): string {
  return isPrimary(leg) ? 'Solana' : `EVM ${leg.network.split(':')[1]}`
}

/** The network fee of each leg, as text. */
function useFees(quote: Quote): Readonly<Record<number, string>> {
  const fees = useSignal<Record<number, string>>({})
  const id = quote.extensions.svc.info.pay_req_id
  useEffect(() => {
    let isGone = false
    const load = async () => {
      const [client, { amountText }] = await Promise.all([createSignedClient(null), import('@svc/sdk/money')])
      await Promise.all(
        quote.accepts.map(async ({ network, asset }, i) => {
          const body = { pay_req_id: id, network, asset }
          const text = await client.call(preparePayment, { body }).then(
            ({ body: { fee } }) => `${amountText(roundedUp(BigInt(fee.amount)), fee.decimals)} ${fee.ticker}`,
            () => t.feeUnknown,
          )
          if (!isGone) fees.value = { ...fees.value, [i]: text }
        }),
      )
    }
    fees.value = {}
    void load().catch(() => {})
    return () => {
      isGone = true
    }
  }, [id])
  return fees.value
}

/** Rounds up to two digits: the fee is an upper bound. */
function roundedUp(amount: bigint): bigint {
  const step = 10n ** BigInt(Math.max(0, String(amount).length - 2))
  return ((amount + step - 1n) / step) * step
}

interface PayByWalletProps {
  checkout: Checkout
  leg: PaymentLeg
  isRenewal: boolean
}

function PayByWallet({ checkout, leg, isRenewal }: PayByWalletProps) {
  const wallet = checkout.wallet
  const namespace = isPrimary(leg) ? 'solana' : 'eip155'
  const connected = wallet.value?.namespace === namespace ? wallet.value : null
  if (!connected)
    return (
      <WalletChooser
        key={namespace}
        namespace={namespace}
        onConnected={(next: ConnectedWallet) => {
          wallet.value = next
        }}
      />
    )
  const { human_amount, name } = leg.extra
  return (
    <div class="stack">
      <div class="payer">
        <WalletIcon icon={connected.icon} />
        <div class="payer-name">
          <b>
            <bdi>{connected.name}</bdi>
          </b>
          <code>{connected.address}</code>
        </div>
        <Button
          kind="quiet"
          onClick={() => {
            wallet.value = null
          }}
        >
          {t.otherWallet}
        </Button>
      </div>
      <p class="field-hint">{isRenewal ? t.renewalOwner : t.owner}</p>
      <div class="row">
        <Button kind="primary" onClick={() => void checkout.pay(connected, leg)}>
          {t.payNow(human_amount, name)}
        </Button>
      </div>
    </div>
  )
}

export function Notice({ problem }: { problem: Problem }) {
  return (
    <div class="notice" role="alert">
      <h2>{problem.title}</h2>
      <p>{problem.text}</p>
      {problem.tx && (
        <p>
          {texts.unsettled.tx} <code>{problem.tx}</code>
        </p>
      )}
    </div>
  )
}
