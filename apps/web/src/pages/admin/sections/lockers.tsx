import type { LockerOverTerms } from '@svc/api/internal'
import type { AdminGrowth, AdminLocker } from '@svc/api/operations'
import { useMemo } from 'preact/hooks'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { providerTitle } from '../../../ui/names.ts'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { Chart } from '../chart/chart.tsx'
import { Choice, chosenWord } from '../choice.tsx'
import { Finder } from '../finder.tsx'
import { useLive } from '../live.ts'
import { linkTo, param } from '../location.ts'
import { Pages } from '../pages.tsx'
import { OPERATIONS, query, type SectionProps, Shown, When } from '../parts.tsx'
import { chosenRange, RangePicker } from '../range.tsx'
import { rangeQuery } from '../time-range.ts'
import { LockerState, OneLocker } from './locker.tsx'

const t = texts.lockers
const HOUR = 3_600
const SLOWLY_MS = 60_000
/** The same limit as in the gateway. */
const MIN_QUERY = 3

export function Lockers({ mayAct }: SectionProps) {
  const id = param('locker')
  const sought = param('q')
  if (id) return <OneLocker key={id} id={id} mayAct={mayAct} />
  return (
    <>
      <Finder key={sought} label={t.findLabel} submit={t.submit} sought={sought} maxLength={200} find={find} />
      {!sought && <Growth />}
      <LockerTable key={sought} sought={sought} />
      {!sought && <OverTerms />}
    </>
  )
}

/** Opens the search, or returns the problem with the text. */
function find(wanted: string): string | null {
  if (wanted.length < MIN_QUERY) return t.short
  location.hash = linkTo('lockers', { q: wanted })
  return null
}

/** The lockers found, or all. */
function LockerTable({ sought }: { sought: string }) {
  const title = sought ? t.found(sought) : t.clear
  return (
    <Card title={title} aside={sought && <a href={linkTo('lockers')}>{t.clear}</a>}>
      <Pages<{ lockers: AdminLocker[]; next_cursor?: string }>
        path={`${OPERATIONS}/lockers`}
        params={sought ? { q: sought } : {}}
        everyMs={SLOWLY_MS}
        isEmpty={({ lockers }) => lockers.length === 0}
        empty={<p>{sought ? `${t.nothing}. ${t.nothingText}` : t.noLocker}</p>}
      >
        {({ lockers }) => (
          <Table
            caption={texts.table(title)}
            head={[t.locker, t.state, t.owner, t.provider, t.files, t.storage, t.expires]}
            numeric={[4, 5]}
            rows={lockers.map((locker) => [
              <LockerLink key="locker" id={locker.locker_id} />,
              <LockerState key="state" restriction={locker.restriction} />,
              <code key="owner" class="short" title={locker.owner}>
                {locker.owner}
              </code>,
              providerTitle(locker.provider),
              common.number(locker.file_count),
              common.bytes(locker.total_bytes),
              <Until key="until" expiresAt={locker.expires_at} isEnded={locker.ended} />,
            ])}
          />
        )}
      </Pages>
    </Card>
  )
}

function LockerLink({ id }: { id: string }) {
  return (
    <a href={linkTo('lockers', { locker: id })}>
      <code>{id}</code>
    </a>
  )
}

function Until({ expiresAt, isEnded }: { expiresAt: string; isEnded: boolean }) {
  return (
    <>
      <When iso={expiresAt} isDay /> {isEnded && <Status tone="warn">{t.ended}</Status>}
    </>
  )
}

function Growth() {
  const range = chosenRange()
  const measure = chosenWord('show', t.measures, 'bytes')
  const live = useLive<AdminGrowth>(
    `growth ${range}`,
    () => query(`${OPERATIONS}/growth`, rangeQuery(range)),
    SLOWLY_MS,
  )
  return (
    <Card title={t.growth}>
      <div class="stack">
        <div class="controls">
          <RangePicker />
          <Choice label={t.show} name="show" words={t.measures} value={measure} />
        </div>
        <Shown live={live}>{(growth) => <GrowthChart growth={growth} measure={measure} range={range} />}</Shown>
      </div>
    </Card>
  )
}

interface GrowthProps {
  growth: AdminGrowth
  measure: keyof typeof t.measures
  range: string
}

function GrowthChart({ growth: { samples }, measure, range }: GrowthProps) {
  const title = t.measures[measure]
  const { times, series } = useMemo(
    () => ({
      times: samples.map(({ at }) => Date.parse(at) / 1000),
      series: [{ label: title, values: samples.map((sample) => sample[measure]) }],
    }),
    [samples, measure],
  )
  if (samples.length === 0)
    return (
      <p>
        {t.noGrowth}. {t.noGrowthText}
      </p>
    )
  return (
    <Chart
      title={title}
      kind="lines"
      times={times}
      series={series}
      stepSeconds={HOUR}
      isBytes={measure === 'bytes'}
      formatValue={measure === 'bytes' ? common.bytes : common.number}
      fileName={`${measure}-${range}`}
    />
  )
}

function OverTerms() {
  const usedOf = ({ used, bought }: { used: number; bought: number }, format: (value: number) => string) =>
    t.usedOf(format(used), format(bought))
  return (
    <Card title={t.overTerms}>
      <p class="about">{t.overTermsText}</p>
      <Pages<{ lockers: LockerOverTerms[]; next_cursor?: string }>
        path="/v1/internal/lockers/over-terms"
        everyMs={SLOWLY_MS}
        isEmpty={({ lockers }) => lockers.length === 0}
        empty={<p class="after">{t.noneOver}</p>}
      >
        {({ lockers }) => (
          <Table
            caption={texts.table(t.overTerms)}
            head={[t.locker, t.used, t.storage, t.files, t.egress, t.provider, t.expires]}
            numeric={[1]}
            rows={lockers.map(({ locker_id, used_percent, bytes, files, egress, provider, expires_at, ended }) => [
              <LockerLink key="locker" id={locker_id} />,
              <b key="used">{t.percent(used_percent)}</b>,
              usedOf(bytes, common.bytes),
              usedOf(files, common.number),
              usedOf(egress, common.bytes),
              providerTitle(provider),
              <Until key="until" expiresAt={expires_at} isEnded={ended} />,
            ])}
          />
        )}
      </Pages>
    </Card>
  )
}
