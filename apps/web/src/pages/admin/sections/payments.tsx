import { useSignal } from '@preact/signals'
import type { AdminPayment, UnclaimedPayment } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { index } from '../../../gateway.ts'
import { Card } from '../../../ui/card.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { Field } from '../../../ui/field.tsx'
import { networkTitle, shortAmount } from '../../../ui/names.ts'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { Finder } from '../finder.tsx'
import { useLive } from '../live.ts'
import { linkTo, param } from '../location.ts'
import { Pages } from '../pages.tsx'
import { Facts, OPERATIONS, query, type SectionProps, Shown, When, word } from '../parts.tsx'
import { PaymentActions, RecordRefund } from './payment-actions.tsx'

const t = texts.payments
const EVERY_MS = 60_000
const TRANSACTION = /^(0[xX][0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/

export function Payments({ mayAct }: SectionProps) {
  const network = param('network')
  const tx = param('tx')
  return (
    <>
      <FindPayment key={tx} network={network} tx={tx} />
      {network && tx && <Payment key={`${network} ${tx}`} network={network} tx={tx} mayAct={mayAct} />}
      {!tx && <Unclaimed mayAct={mayAct} />}
      {!tx && <Accepted />}
    </>
  )
}

interface UnclaimedPage {
  payments: UnclaimedPayment[]
  next_cursor?: string
}

export function useUnclaimed() {
  return useLive<UnclaimedPage>(`${OPERATIONS}/payments/unclaimed`, undefined, EVERY_MS)
}

function Unclaimed({ mayAct }: SectionProps) {
  const live = useUnclaimed()
  return (
    <Card title={t.unclaimed}>
      <p class="about">{t.unclaimedText}</p>
      <Shown live={live}>
        {({ payments, next_cursor }) => (
          <div class="stack">
            {payments.length === 0 ? (
              <p>{t.noUnclaimed}</p>
            ) : (
              <Table
                caption={texts.table(t.unclaimed)}
                head={[t.notedAt, t.amount, t.why, t.payer, t.quote, t.tx, t.state, ...(mayAct ? [t.refund] : [])]}
                numeric={[1]}
                rows={payments.map((payment) => unclaimedRow(payment, mayAct))}
              />
            )}
            {next_cursor && <p>{t.moreUnclaimed}</p>}
          </div>
        )}
      </Shown>
    </Card>
  )
}

function Accepted() {
  return (
    <Card title={t.accepted}>
      <Pages<{ receipts: AdminPayment['receipts']; next_cursor?: string }>
        path={`${OPERATIONS}/payments/accepted`}
        everyMs={EVERY_MS}
        isEmpty={({ receipts }) => receipts.length === 0}
        empty={<p>{t.noAccepted}</p>}
      >
        {({ receipts }) => (
          <Table
            caption={texts.table(t.accepted)}
            head={[t.confirmed, t.amount, t.network, t.units, t.payer, t.receipt, t.tx]}
            numeric={[1, 3]}
            rows={receipts.map((receipt) => [
              <When key="confirmed" iso={receipt.confirmed_at} />,
              `${shortAmount(receipt.paid_amount)} ${receipt.pay_asset}`,
              networkTitle(receipt.network),
              common.number(receipt.units),
              <ShortCode key="payer" text={receipt.payer_pubkey} />,
              <a key="receipt" href={linkTo('lockers', { q: receipt.receipt_id })}>
                <ShortCode text={receipt.receipt_id} />
              </a>,
              <a key="tx" href={linkTo('payments', { network: receipt.network, tx: receipt.tx_hash })}>
                <ShortCode text={receipt.tx_hash} />
              </a>,
            ])}
          />
        )}
      </Pages>
    </Card>
  )
}

function ShortCode({ text }: { text: string }) {
  return (
    <code class="short" title={text}>
      {text}
    </code>
  )
}

function unclaimedRow(payment: UnclaimedPayment, mayAct: boolean) {
  const { noted_at, received_amount, asset, reason, payer, pay_req_id, network, tx, state } = payment
  return [
    <When key="noted" iso={noted_at} />,
    `${received_amount} ${asset}`,
    word(t.reasons, reason),
    <code key="payer">{payer}</code>,
    <code key="quote">{pay_req_id}</code>,
    <a key="tx" href={linkTo('payments', { network, tx })}>
      <code>{tx}</code>
    </a>,
    word(t.states, state),
    ...(mayAct ? [<RefundUnclaimed key={`refund ${network} ${tx} ${asset} ${state}`} payment={payment} />] : []),
  ]
}

function RefundUnclaimed({ payment }: { payment: UnclaimedPayment }) {
  const { left_raw, refunds } = payment
  const unsent = refunds.find(({ refund_tx }) => refund_tx === null) ?? null
  if (unsent) return <RecordRefund payment={payment} left={[]} refund={unsent} />
  if (BigInt(left_raw) === 0n) return null
  return <RecordRefund payment={payment} left={[payment]} refund={null} />
}

function FindPayment({ network, tx }: { network: string; tx: string }) {
  const { value } = index.now
  const networks = value.state === 'ready' ? value.value.payment.networks.map(({ name }) => name) : []
  const chosen = useSignal(network)
  const find = (wanted: string) => {
    if (!TRANSACTION.test(wanted)) return t.txWrong
    location.hash = linkTo('payments', { network: networkOf(wanted, chosen.value, networks), tx: wanted })
    return null
  }
  return (
    <Finder label={t.tx} hint={t.txHint} submit={t.submit} sought={tx} find={find}>
      <Field label={t.network}>
        {(control) => (
          <select
            {...control}
            onChange={(event) => {
              chosen.value = event.currentTarget.value
            }}
          >
            <option value="">{t.anyNetwork}</option>
            {networks.map((name) => (
              <option key={name} value={name} selected={name === chosen.value}>
                {networkTitle(name)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </Finder>
  )
}

/** The chain of a transaction, from its form. */
function networkOf(tx: string, chosen: string, known: readonly string[]): string {
  if (chosen) return chosen
  const family = tx.startsWith('0') ? 'evm' : 'primary'
  return known.find((name) => name.startsWith(family)) ?? `${family}-mainnet`
}

function Payment({ network, tx, mayAct }: { network: string; tx: string; mayAct: boolean }) {
  const live = useLive<AdminPayment>(query(`${OPERATIONS}/payments`, { network, tx }), undefined, EVERY_MS)
  return (
    <Shown live={live}>
      {(payment) => (
        <>
          <Arrivals payment={payment} mayAct={mayAct} />
          <Receipts payment={payment} />
          <Refunds payment={payment} />
        </>
      )}
    </Shown>
  )
}

function Arrivals({ payment, mayAct }: { payment: AdminPayment; mayAct: boolean }) {
  const { network, tx, chain, arrivals } = payment
  const tone = { found: 'good', not_found: 'bad', unavailable: 'warn' } as const
  return (
    <Card
      title={t.arrivals}
      aside={<Status tone={tone[chain]}>{`${networkTitle(network)}: ${word(t.chains, chain)}`}</Status>}
    >
      <div class="stack">
        <Copyable text={tx} what={t.tx} />
        {arrivals.length === 0 ? (
          <p>{t.noArrivals}</p>
        ) : (
          <Table
            caption={texts.table(t.arrivals)}
            head={[t.asset, t.amount, t.payer, t.blockTime, t.quotes]}
            numeric={[1]}
            rows={arrivals.map(({ asset, received_amount, payer, block_time, references }) => [
              <b key="asset">{asset}</b>,
              received_amount,
              <code key="payer">{payer}</code>,
              <When key="time" iso={block_time} />,
              <code key="quotes">{references.join(' ') || texts.none}</code>,
            ])}
          />
        )}
        {mayAct && arrivals.length > 0 && <PaymentActions payment={payment} />}
      </div>
    </Card>
  )
}

function Receipts({ payment: { receipts } }: { payment: AdminPayment }) {
  return (
    <Card title={t.receipts}>
      {receipts.length === 0 ? (
        <p>{t.noReceipts}</p>
      ) : (
        <Table
          caption={texts.table(t.receipts)}
          head={[t.receipt, t.quote, t.units, t.amount, t.payer, t.confirmed]}
          numeric={[2]}
          rows={receipts.map(
            ({ receipt_id, pay_req_id, units, paid_amount, pay_asset, payer_pubkey, confirmed_at }) => [
              <a key="receipt" href={linkTo('lockers', { q: receipt_id })}>
                <code>{receipt_id}</code>
              </a>,
              <code key="quote">{pay_req_id}</code>,
              common.number(units),
              `${paid_amount} ${pay_asset}`,
              <code key="payer">{payer_pubkey}</code>,
              <When key="confirmed" iso={confirmed_at} />,
            ],
          )}
        />
      )}
    </Card>
  )
}

function Refunds({ payment: { refunds } }: { payment: AdminPayment }) {
  return (
    <Card title={t.refund}>
      {refunds.length === 0 && <p>{t.none}</p>}
      {refunds.map((refund, i) => (
        <div key={i} class="stack">
          <Status tone={refund.refund_tx ? 'good' : 'warn'}>{refund.refund_tx ? t.refundSent : t.refundDecided}</Status>
          <Facts
            facts={[
              [t.amount, `${common.integer(refund.amount_raw)} ${t.atomic(refund.asset)}`],
              [t.refundTx, refund.refund_tx ?? texts.none],
              [t.refundBy, `${refund.decided_by}, ${texts.time(refund.decided_at)}`],
              [texts.audit.reason, refund.reason],
            ]}
          />
        </div>
      ))}
    </Card>
  )
}
