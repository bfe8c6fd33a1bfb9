import type { AdminOverview } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { sol } from '../amounts.ts'
import { Facts, Shown, When } from '../parts.tsx'
import { useOverview } from './overview.tsx'

const t = texts.attestations

export function Attestations() {
  return (
    <Shown live={useOverview()}>
      {({ attestations, anchors, budgets }) => (
        <>
          <States attestations={attestations} />
          <Anchors anchors={anchors} />
          <Budgets budgets={budgets} />
        </>
      )}
    </Shown>
  )
}

function States({ attestations }: Pick<AdminOverview, 'attestations'>) {
  const { counts, oldest_nonfinal_age_sec: oldest, nonfinal_unknown_age: unknown } = attestations
  return (
    <Card title={t.states}>
      <Facts
        facts={[
          [t.pending, common.number(counts.pending)],
          [t.computed, common.number(counts.computed)],
          [t.pushing, common.number(counts.pushing)],
          [t.complete, common.number(counts.complete)],
          [
            t.oldest,
            [oldest === null ? t.noneWaits : texts.duration(oldest), unknown > 0 && t.unknownAge(unknown)]
              .filter(Boolean)
              .join(', '),
          ],
        ]}
      />
    </Card>
  )
}

function Anchors({ anchors }: Pick<AdminOverview, 'anchors'>) {
  if (!anchors)
    return (
      <Card title={t.anchors}>
        <p>{t.off}</p>
      </Card>
    )
  const { published, failed, expired, fee_lamports_total, rent_lamports_total, balance_lamports, low_balance } = anchors
  const average = published > 0 ? Math.round(fee_lamports_total / published) : null
  return (
    <Card title={t.anchors}>
      <Facts
        facts={[
          [t.published, common.number(published)],
          [t.failed, common.number(failed)],
          [t.expired, common.number(expired)],
          [t.fees, [sol(fee_lamports_total), average !== null && t.perAnchor(sol(average))].filter(Boolean).join(', ')],
          [t.rent, sol(rent_lamports_total)],
          [
            t.balance,
            <span key="balance" class="row">
              {balance_lamports === null ? <Status tone="warn">{t.unknown}</Status> : sol(balance_lamports)}
              {low_balance && <Status tone="warn">{t.low}</Status>}
            </span>,
          ],
          [t.key, <Copyable key="key" text={anchors.publication_key} what={t.key} />],
        ]}
      />
    </Card>
  )
}

function Budgets({ budgets }: Pick<AdminOverview, 'budgets'>) {
  return (
    <Card title={t.budgets}>
      {budgets.length === 0 ? (
        <p>{t.noBudgets}</p>
      ) : (
        <Table
          caption={texts.table(t.budgets)}
          head={[t.budget, t.state, t.used, t.transactions, t.resets]}
          numeric={[3]}
          rows={budgets.map(({ name, unit, per_day, used, transactions, used_up, resets_at }) => [
            <b key="name">{name}</b>,
            used_up ? <Status tone="warn">{t.usedUp}</Status> : <Status tone="good">{t.within}</Status>,
            <span key="used" class="meter">
              {per_day > 0 && <Used name={name} used={used} of={per_day} />}
              <small>
                {common.number(used)} / {per_day > 0 ? common.number(per_day) : t.noLimit} {unit}
              </small>
            </span>,
            common.number(transactions),
            <When key="resets" iso={resets_at} />,
          ])}
        />
      )}
    </Card>
  )
}

/** A meter that turns from green to yellow to red. */
function Used({ name, used, of }: { name: string; used: number; of: number }) {
  return <meter min={0} max={of} low={of * 0.5} high={of * 0.8} optimum={0} value={used} aria-label={t.usedOf(name)} />
}
