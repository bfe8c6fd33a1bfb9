import type { TreasurySummary } from '@svc/api/internal'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { Copyable } from '../../../ui/copy.tsx'
import { networkTitle } from '../../../ui/names.ts'
import { Empty } from '../../../ui/states.tsx'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { displayAmount } from '../amounts.ts'
import { useLive } from '../live.ts'
import { OPERATIONS, query, SaveButton, Shown } from '../parts.tsx'
import { chosenRange, RangePicker } from '../range.tsx'
import { rangeQuery } from '../time-range.ts'

const t = texts.treasury
/** A slow interval, because balances come from the chains. */
const EVERY_MS = 60_000

export function Treasury() {
  const summary = useLive<TreasurySummary>('/v1/internal/treasury/summary', undefined, EVERY_MS)
  const range = chosenRange()
  return (
    <>
      <Shown live={summary}>{(value) => <Networks summary={value} />}</Shown>
      <Card title={t.statement}>
        <div class="stack">
          <p class="about">{t.statementText}</p>
          <RangePicker />
          <div class="row">
            <SaveButton
              label={t.save}
              path={() => query(`${OPERATIONS}/treasury-statement`, rangeQuery(range))}
              fileName={`treasury-${range}.csv`}
            />
          </div>
        </div>
      </Card>
    </>
  )
}

function Networks({ summary: { networks, receipts_total } }: { summary: TreasurySummary }) {
  if (networks.length === 0) return <Empty title={t.empty} text={t.emptyText} />
  return (
    <>
      {networks.map(({ network, address, assets }) => (
        <Card key={network} title={networkTitle(network)}>
          <p class="about">
            {t.at} <Copyable text={address} what={t.caption(networkTitle(network))} />
          </p>
          <Table
            caption={t.caption(networkTitle(network))}
            head={[t.asset, t.balance, t.received, t.receipts]}
            numeric={[1, 2, 3]}
            rows={assets.map(({ asset, decimals = 0, balance_raw, received_raw, receipts }) => [
              <b key="asset">{asset}</b>,
              balance_raw === null ? (
                <Status tone="warn">{t.unavailable}</Status>
              ) : (
                displayAmount(balance_raw, decimals)
              ),
              displayAmount(received_raw, decimals),
              common.number(receipts),
            ])}
          />
        </Card>
      ))}
      <p class="faint">{t.total(receipts_total)}</p>
    </>
  )
}
