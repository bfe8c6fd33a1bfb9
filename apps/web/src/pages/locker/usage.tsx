// The purchased terms of the locker, and their usage.

import { useSignal } from '@preact/signals'
import type { LockerUsage } from '@svc/api/usage'
import { printable } from '@svc/verifier/untrusted'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/locker'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import type { LockerSession } from './session.ts'
import { percentOf, type Term, usageWarnings } from './usage-warnings.ts'

const t = texts.usage

export function Usage({ session }: { session: LockerSession }) {
  const usage = useSignal<LockerUsage | null>(null)
  const { isBusy, problem, run } = useAction()
  const load = () =>
    run(async () => {
      usage.value = await session.client.usage(session.locker)
    })
  useEffect(() => {
    if (session.isSilent) void load()
  }, [session])
  const { value } = usage
  if (problem) return <ProblemNote problem={problem} retry={() => void load()} />
  if (value) return <Shown session={session} usage={value} />
  if (isBusy || session.isSilent) return <Loading label={common.states.loading} />
  return (
    <div class="state">
      <p>{t.loadText}</p>
      <Button onClick={() => void load()}>{t.load}</Button>
    </div>
  )
}

function Shown({ session, usage }: { session: LockerSession; usage: LockerUsage }) {
  const { receipt_id } = session.locker
  const { settling } = session.facts.value
  const now = Date.now()
  return (
    <div class="stack">
      {usageWarnings(usage, now).map((warning) => (
        <p key={warning} class="note note-warn">
          {warning}
        </p>
      ))}
      <Card title={t.title}>
        <div class="stack">
          <div class="meters">
            <Meter label={t.storage} term={usage.bytes} shown={common.bytes} />
            <Meter label={t.files} term={usage.files} shown={common.number} />
            <Meter label={t.egress} term={usage.egress} shown={common.bytes} />
          </div>
          <p class="soft">
            {texts.until(usage.expires_at, now)}. {usage.enforced ? t.enforced : t.notEnforced}
          </p>
          {settling && <p class="soft">{t.settling(settling.files)}</p>}
          <div class="row">
            <a class="button button-primary" href={urlOf(`/buy#extends=${receipt_id}`)}>
              {t.renew}
            </a>
            <span class="field-hint">{t.renewText(usage.renewal_units)}</span>
          </div>
        </div>
      </Card>
      <Card title={t.next}>
        <p class="soft">{anchorOutlook(usage)}</p>
      </Card>
      <Card title={t.payments}>
        <Table
          caption={t.caption}
          head={[t.date, t.kind, t.units, t.paid]}
          numeric={[2, 3]}
          rows={usage.purchases.map(({ confirmed_at, kind, units, paid_amount, pay_asset, price_usd }) => [
            texts.date(confirmed_at),
            t.kinds[kind],
            common.number(units),
            printable(`${paid_amount} ${pay_asset}`, 60) +
              (price_usd === null ? '' : ` (${common.dollars(price_usd)})`),
          ])}
        />
      </Card>
    </div>
  )
}

interface MeterProps {
  label: string
  term: Term
  shown: (value: number) => string
}

function Meter({ label, term, shown }: MeterProps) {
  const { used, bought } = term
  return (
    <div class="meter">
      <h3>{label}</h3>
      <progress value={used} max={bought || 1} aria-label={label} />
      <span>{t.of(shown(used), shown(bought), percentOf(term))}</span>
    </div>
  )
}

function anchorOutlook({ next_anchor, has_unattested_changes }: LockerUsage): string {
  if (next_anchor === null) return has_unattested_changes ? t.attestFirst : t.noneWaits
  const { at, reason } = next_anchor
  return at === null ? t.reasons[reason] : t.earliest(texts.moment(at), t.reasons[reason])
}
