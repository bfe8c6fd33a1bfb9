// Actions for a payment that no receipt uses: attach it to a quote, or record a refund.

import { useSignal } from '@preact/signals'
import type { AdminPayment } from '@svc/api/operations'
import type { ComponentChildren } from 'preact'
import { texts } from '#texts/admin'
import { Field } from '../../../ui/field.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { ActionButton } from '../action.tsx'
import { OPERATIONS } from '../parts.tsx'

const t = texts.payments

export function PaymentActions({ payment }: { payment: AdminPayment }) {
  const unsent = payment.refunds.find(({ refund_tx }) => refund_tx === null) ?? null
  const left = payment.arrivals.filter((arrival) => leftOf(arrival) > 0n)
  return (
    <div class="row">
      {left.length > 0 && <Attach payment={payment} />}
      {unsent && <RecordRefund key="sent" payment={payment} left={left} refund={unsent} />}
      {left.length > 0 && <RecordRefund key="new" payment={payment} left={left} refund={null} />}
    </div>
  )
}

type Arrival = Pick<
  AdminPayment['arrivals'][number],
  'asset' | 'received_raw' | 'received_amount' | 'claimed_raw' | 'refunded_raw'
>

/** The amount that neither receipts nor refunds account for. */
function leftOf({ received_raw, claimed_raw, refunded_raw }: Arrival): bigint {
  return BigInt(received_raw) - BigInt(claimed_raw) - BigInt(refunded_raw)
}

function Attach({ payment: { network, tx, arrivals } }: { payment: AdminPayment }) {
  const asset = useSignal(arrivals[0]?.asset ?? '')
  const quote = useSignal(arrivals[0]?.references.find(isQuote) ?? '')
  const acceptsLess = useSignal(false)
  return (
    <ActionButton
      action={{
        ...t.attach,
        isDangerous: true,
        target: `${network} ${tx}`,
        method: 'POST',
        path: `${OPERATIONS}/payments/attach`,
        body: () =>
          isQuote(quote.value.trim())
            ? { network, tx, asset: asset.value, pay_req_id: quote.value.trim(), accept_less: acceptsLess.value }
            : t.attach.quoteWrong,
        outcome: ({ receipt }: { receipt: { receipt_id: string } }) => t.attach.done(receipt.receipt_id),
        fields: () => (
          <>
            <AssetField arrivals={arrivals} value={asset.value} onAsset={(value) => (asset.value = value)} />
            <TextField label={t.attach.quote} text={quote} />
            <label class="check">
              <input
                type="checkbox"
                checked={acceptsLess.value}
                onChange={(event) => {
                  acceptsLess.value = event.currentTarget.checked
                }}
              />
              {t.attach.less}
            </label>
          </>
        ),
      }}
    />
  )
}

function isQuote(text: string): boolean {
  return /^pr_\w+$/.test(text)
}

interface RecordProps {
  payment: Pick<AdminPayment, 'network' | 'tx'>
  left: readonly Arrival[]
  /** A refund that is decided but not yet sent; null for a new one. */
  refund: AdminPayment['refund']
}

export function RecordRefund({ payment: { network, tx }, left, refund }: RecordProps) {
  const amountOf = (wanted: string) => {
    const arrival = left.find(({ asset }) => asset === wanted)
    return arrival ? String(leftOf(arrival)) : ''
  }
  const asset = useSignal(refund?.asset ?? left[0]?.asset ?? '')
  const amount = useSignal(refund?.amount_raw ?? amountOf(asset.value))
  const refundTx = useSignal('')
  return (
    <ActionButton
      action={{
        ...t.record,
        label: refund ? t.record.again : t.record.label,
        target: `${network} ${tx}`,
        method: 'POST',
        path: `${OPERATIONS}/payments/refund`,
        body: () =>
          /^(0|[1-9]\d*)$/.test(amount.value.trim())
            ? {
                network,
                tx,
                asset: asset.value,
                amount_raw: amount.value.trim(),
                ...(refundTx.value.trim() && { refund_tx: refundTx.value.trim() }),
              }
            : t.record.amountWrong,
        outcome: () => t.record.done,
        fields: () => (
          <>
            {!refund && (
              <>
                <AssetField
                  arrivals={left}
                  value={asset.value}
                  onAsset={(value) => {
                    asset.value = value
                    amount.value = amountOf(value)
                  }}
                />
                <TextField label={t.record.amount} text={amount} />
              </>
            )}
            <TextField label={t.record.tx} hint={refund ? '' : t.record.txHint} text={refundTx} />
          </>
        ),
      }}
    />
  )
}

interface AssetProps {
  arrivals: readonly Arrival[]
  value: string
  onAsset: (asset: string) => void
}

function AssetField({ arrivals, value, onAsset }: AssetProps): ComponentChildren {
  if (arrivals.length < 2) return null
  return (
    <Field label={t.attach.asset}>
      {(control) => (
        <select {...control} onChange={(event) => onAsset(event.currentTarget.value)}>
          {arrivals.map(({ asset, received_amount }) => (
            <option key={asset} value={asset} selected={asset === value}>
              {received_amount} {asset}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}
