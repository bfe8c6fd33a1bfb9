import type { AdminSales } from '@svc/api/operations'
import { useMemo } from 'preact/hooks'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { networkTitle, providerTitle } from '../../../ui/names.ts'
import { Empty } from '../../../ui/states.tsx'
import { Table } from '../../../ui/table.tsx'
import { Chart } from '../chart/chart.tsx'
import { largest } from '../chart/series.ts'
import { Choice, chosenWord } from '../choice.tsx'
import { useLive } from '../live.ts'
import { Notice, OPERATIONS, query, SaveButton, Shown } from '../parts.tsx'
import { chosenRange, RangePicker } from '../range.tsx'
import { boundsOf, rangeQuery } from '../time-range.ts'
import { bucketOf, type Dimension, type Measure, STEP_SECONDS, seriesOf, totalsOf } from './periods.ts'

const t = texts.sales
const MAX_SERIES = 6
const TITLES: Record<Dimension, (name: string) => string> = {
  asset: (name) => name,
  provider: providerTitle,
  network: networkTitle,
}

export function Sales() {
  const range = chosenRange()
  const bucket = bucketOf(boundsOf(range, Date.now() / 1000))
  const sales = useLive<AdminSales>(`sales ${range}`, () =>
    query(`${OPERATIONS}/sales`, { ...rangeQuery(range), bucket }),
  )
  const by = chosenWord<Dimension>('by', t.dimensions, 'asset')
  const measure = chosenWord<Measure>('show', t.measures, 'price_usd')
  const exported = (format: string) => query(`${OPERATIONS}/receipts`, { ...rangeQuery(range), format })
  return (
    <>
      <div class="controls">
        <RangePicker />
        <Choice label={t.by} name="by" words={t.dimensions} value={by} />
        <Choice label={t.measure} name="show" words={t.measures} value={measure} />
      </div>
      <Shown live={sales}>{(value) => <Sold sales={value} by={by} measure={measure} range={range} />}</Shown>
      <Card title={t.exports}>
        <div class="stack">
          <p class="about">{t.exportsText}</p>
          <div class="row">
            <SaveButton label={t.csv} path={() => exported('csv')} fileName={`receipts-${range}.csv`} />
            <SaveButton label={t.jsonl} path={() => exported('jsonl')} fileName={`receipts-${range}.jsonl`} />
          </div>
        </div>
      </Card>
    </>
  )
}

interface SoldProps {
  sales: AdminSales
  by: Dimension
  measure: Measure
  range: string
}

function Sold({ sales, by, measure, range }: SoldProps) {
  const { times, series } = useMemo(() => {
    const { times, series } = seriesOf(sales, by, measure)
    const titled = series.map(({ label, values }) => ({ label: TITLES[by](label), values }))
    return { times, series: largest(titled, MAX_SERIES, texts.other) }
  }, [sales, by, measure])
  if (sales.periods.length === 0 && sales.uncounted === 0) return <Empty title={t.empty} text={t.emptyText} />
  const title = t.chart(t.measures[measure], t.dimensions[by], sales.bucket)
  return (
    <>
      {sales.uncounted > 0 && <Notice tone="info" title={t.uncounted(sales.uncounted)} />}
      <Card title={title}>
        <Chart
          title={title}
          kind="bars"
          times={times}
          series={series}
          stepSeconds={STEP_SECONDS[sales.bucket]}
          formatValue={measure === 'price_usd' ? texts.dollars : common.number}
          fileName={`sales-${by}-${range}`}
        />
      </Card>
      <Totals sales={sales} />
    </>
  )
}

function Totals({ sales }: { sales: AdminSales }) {
  const totals = useMemo(() => totalsOf(sales.periods), [sales])
  const sum = (field: 'purchases' | 'renewals' | 'units' | 'usd') => totals.reduce((all, row) => all + row[field], 0)
  return (
    <Card title={t.totals}>
      <Table
        caption={texts.table(t.totals)}
        head={[t.asset, t.network, t.provider, t.purchases, t.renewals, t.units, t.paid, t.usd]}
        numeric={[3, 4, 5, 6, 7]}
        rows={[
          ...totals.map(({ asset, network, provider, purchases, renewals, units, paid, usd }) => [
            <b key="asset">{asset}</b>,
            networkTitle(network),
            providerTitle(provider),
            common.number(purchases),
            common.number(renewals),
            common.number(units),
            paid,
            texts.dollars(usd),
          ]),
          [
            <b key="all">{t.all}</b>,
            '',
            '',
            common.number(sum('purchases')),
            common.number(sum('renewals')),
            common.number(sum('units')),
            '',
            <b key="usd">{texts.dollars(sum('usd'))}</b>,
          ],
        ]}
      />
    </Card>
  )
}
