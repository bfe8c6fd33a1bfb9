// Payments outside of this page: with a phone that reads a code, or with any other wallet.

import { useSignal } from '@preact/signals'
import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/buy'
import { common } from '#texts/common'
import { PastedTransaction } from '../../paying/ask-payer.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Loading } from '../../ui/states.tsx'
import { Term } from '../../ui/term.tsx'
import type { Checkout } from './checkout.ts'
import { chosenLeg, LegChoice } from './leg-choice.tsx'
import { isPrimary } from './steps.ts'

interface PayElsewhereProps {
  checkout: Checkout
  quote: Quote
}

/** Whether the purchase is saved as one that may be paid outside of the page. */
function useShown(checkout: Checkout): boolean {
  useEffect(() => void checkout.showElsewhere(), [])
  return checkout.purchase.value?.isShownElsewhere ?? false
}

/** The created value; undefined while it is being created, null if there is none. */
function useCreated<T>(create: () => Promise<T | null>, key: string): T | null | undefined {
  const created = useSignal<{ key: string; value: T | null } | null>(null)
  useEffect(() => {
    let isGone = false
    void create()
      .catch(() => null)
      .then((value) => {
        if (!isGone) created.value = { key, value }
      })
    return () => {
      isGone = true
    }
  }, [key])
  return created.value?.key === key ? created.value.value : undefined
}

function keyOf({ network, asset, extra }: PaymentLeg): string {
  return `${extra.pay_req_id} ${network} ${asset}`
}

/** Wallets on phones read codes for Solana only. */
export function PayByPhone({ checkout, quote }: PayElsewhereProps) {
  const legs = quote.accepts.filter(isPrimary)
  if (legs.length === 0) return <p>{texts.phone.onlySolana}</p>
  return (
    <div class="stack">
      <LegChoice checkout={checkout} legs={legs} />
      <PhoneCode checkout={checkout} quote={quote} leg={chosenLeg(legs, checkout.leg.value)} />
    </div>
  )
}

function PhoneCode({ checkout, quote, leg }: PayElsewhereProps & { leg: PaymentLeg }) {
  const t = texts.phone
  const isShown = useShown(checkout)
  const code = useCreated(async () => {
    const [{ transferRequestOf }, { encode }] = await Promise.all([import('@svc/sdk/wallet-urls'), import('uqr')])
    const request = await transferRequestOf(leg)
    return request && { url: request.url, squares: encode(request.url, { border: 2 }).data }
  }, keyOf(leg))
  if (!isShown || code === undefined) return <Loading label={common.states.loading} />
  if (code === null) return <p>{t.notThis}</p>
  return (
    <div class="phone">
      {quote.extensions.svc.terms.environment === 'development' && <p class="caution">{t.development}</p>}
      <QrCode squares={code.squares} label={t.code(leg.extra.human_amount, leg.extra.name)} />
      <div class="stack">
        <p>{t.text}</p>
        <p class="waiting" role="status">
          <span class="spinner" aria-hidden="true" />
          {t.waiting}
        </p>
        <div class="row">
          <a class="button" href={code.url} rel="noreferrer">
            {t.open}
          </a>
        </div>
        <Copyable text={code.url} what={t.link} />
      </div>
    </div>
  )
}

/** A QR code, dark on white in both themes, because cameras read only that. */
function QrCode({ squares, label }: { squares: boolean[][]; label: string }) {
  const path = squares.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg class="qr" viewBox={`0 0 ${squares.length} ${squares.length}`} role="img" aria-label={label}>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}

interface Instruction {
  to: string
  /** The amount in the unit that wallets ask for. */
  amount: string
  memo: string | null
  data: string | null
}

export function PayElsewhere({ checkout, quote }: PayElsewhereProps) {
  const t = texts.elsewhere
  const leg = chosenLeg(quote.accepts, checkout.leg.value)
  const isShown = useShown(checkout)
  const how = useCreated(() => instructionOf(leg), keyOf(leg))
  if (!isShown || !how) return <Loading label={common.states.loading} />
  return (
    <div class="stack">
      {quote.extensions.svc.terms.environment === 'development' && <p class="caution">{t.development}</p>}
      <p>{t.text}</p>
      <LegChoice checkout={checkout} legs={quote.accepts} />
      <dl class="facts">
        <Instructed name={t.to} value={how.to} />
        <Instructed name={how.data ? t.value : t.amount} value={how.amount} />
        {how.memo && <Instructed name={t.memo} value={how.memo} />}
        {how.data && <Instructed name={t.data} value={how.data} />}
      </dl>
      <p class="field-hint">{t.memoHint}</p>
      <PastedTransaction onTransaction={(tx) => void checkout.confirmTransaction(tx, leg)} />
    </div>
  )
}

async function instructionOf(leg: PaymentLeg): Promise<Instruction> {
  const { human_amount, name, memo, pay_req_id } = leg.extra
  if (isPrimary(leg)) {
    const { paymentReference } = await import('@svc/protocol/ids')
    return { to: leg.payTo, amount: `${human_amount} ${name}`, memo: memo ?? paymentReference(pay_req_id), data: null }
  }
  const { evmTransfer } = await import('@svc/sdk/evm-wallet')
  const { to, value, data } = evmTransfer(leg)
  return { to, amount: value === 0n ? '0' : `${human_amount} ${name}`, memo: null, data }
}

function Instructed({ name, value }: { name: string; value: string }) {
  return (
    <Term name={name}>
      <Copyable text={value} what={name} />
    </Term>
  )
}
