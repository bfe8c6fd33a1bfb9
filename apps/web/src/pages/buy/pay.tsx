// The step where the buyer sees the price and pays it.

import { useSignal } from '@preact/signals'
import { preparePayment } from '@svc/api/payment'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/buy'
import { common } from '#texts/common'
import { texts as paying } from '#texts/paying'
import { PastedTransaction } from '../../paying/ask-payer.tsx'
import type { Problem } from '../../paying/problem.ts'
import { TermsList } from '../../price/calculator.tsx'
import { createSignedClient } from '../../signed-client.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { shortAmount } from '../../ui/names.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { Term } from '../../ui/term.tsx'
import { WalletChooser, WalletIcon } from '../../wallets/choose-wallet.tsx'
import type { ConnectedWallet, Namespace } from '../../wallets/wallet.ts'
import type { Checkout } from './checkout.ts'
import { chosenLeg, LegChoice } from './leg-choice.tsx'
import { PayByPhone, PayElsewhere } from './pay-elsewhere.tsx'
import { isPrimary } from './steps.ts'

const t = texts.pay

export function Pay({ checkout, problem }: { checkout: Checkout; problem: Problem | null }) {
  const { value: purchase } = checkout.purchase
  const quote = purchase?.quotes.at(-1)
  const seconds = useSecondsLeft(quote?.extensions.svc.info.expires_at ?? '')
  useElsewhereChecks(checkout)
  if (!purchase || !quote) return null
  const { terms, price_summary, renewal } = quote.extensions.svc
  const total = common.dollars(price_summary.total_usd)
  const isRenewal = Boolean(renewal)
  return (
    <div class="pay">
      {problem && <Notice problem={problem} />}
      {seconds === 0 ? (
        <Ended checkout={checkout} isShownElsewhere={purchase.isShownElsewhere} />
      ) : (
        <Card
          title={t.how}
          aside={
            <p class="time-left">
              {t.timeLeft} <b role="timer">{t.left(seconds)}</b>
            </p>
          }
        >
          <Tabs
            label={t.how}
            chosen={checkout.method}
            tabs={[
              { name: t.wallet, content: <PayByWallet checkout={checkout} quote={quote} isRenewal={isRenewal} /> },
              { name: t.phone, content: <PayByPhone checkout={checkout} quote={quote} /> },
              { name: t.elsewhere, content: <PayElsewhere checkout={checkout} quote={quote} /> },
            ]}
          />
        </Card>
      )}
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
          <p class="total">
            <span>{t.total}</span> <b>{total}</b>
          </p>
          {terms.environment === 'development' && <p class="field-hint">{t.development}</p>}
        </div>
      </Card>
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

/** Loads the network fee of a leg, as text; null while it is loaded. */
function useFee(quote: Quote, { network, asset }: PaymentLeg): string | null {
  const fee = useSignal<string | null>(null)
  const { pay_req_id } = quote.extensions.svc.info
  useEffect(() => {
    let isGone = false
    const load = async () => {
      const [client, { amountText }] = await Promise.all([createSignedClient(null), import('@svc/sdk/money')])
      const { body } = await client.call(preparePayment, { body: { pay_req_id, network, asset } })
      return `${amountText(roundedUp(BigInt(body.fee.amount)), body.fee.decimals)} ${body.fee.ticker}`
    }
    fee.value = null
    void load()
      .catch(() => t.feeUnknown)
      .then((text) => {
        if (!isGone) fee.value = text
      })
    return () => {
      isGone = true
    }
  }, [pay_req_id, network, asset])
  return fee.value
}

/** Rounds up to two digits: the fee is an upper bound. */
function roundedUp(amount: bigint): bigint {
  const step = 10n ** BigInt(Math.max(0, String(amount).length - 2))
  return ((amount + step - 1n) / step) * step
}

interface PayByWalletProps {
  checkout: Checkout
  quote: Quote
  isRenewal: boolean
}

/** First the wallet, which decides on which chain is paid; then the asset. */
function PayByWallet({ checkout, quote, isRenewal }: PayByWalletProps) {
  const { wallet } = checkout
  const chains = new Set(quote.accepts.map(namespaceOfLeg))
  const legs = quote.accepts.filter((one) => namespaceOfLeg(one) === wallet.value?.namespace)
  if (!wallet.value || legs.length === 0) {
    const [only] = chains
    return (
      <WalletChooser
        {...(chains.size === 1 && only && { namespace: only })}
        onConnected={(next: ConnectedWallet) => {
          wallet.value = next
        }}
      />
    )
  }
  return <ConnectedPay checkout={checkout} quote={quote} isRenewal={isRenewal} connected={wallet.value} legs={legs} />
}

function namespaceOfLeg(leg: PaymentLeg): Namespace {
  return isPrimary(leg) ? 'solana' : 'eip155'
}

function ConnectedPay(props: PayByWalletProps & { connected: ConnectedWallet; legs: readonly PaymentLeg[] }) {
  const { checkout, quote, isRenewal, connected, legs } = props
  const leg = chosenLeg(legs, checkout.leg.value)
  const fee = useFee(quote, leg)
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
            checkout.wallet.value = null
          }}
        >
          {t.otherWallet}
        </Button>
      </div>
      <LegChoice checkout={checkout} legs={legs} hint={t.fee(fee ?? '…')} />
      <p class="field-hint">{isRenewal ? t.renewalOwner : t.owner}</p>
      <div class="pay-bar">
        <Button kind="primary" onClick={() => void checkout.pay(connected, leg)}>
          {t.payNow(shortAmount(human_amount), name)}
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
