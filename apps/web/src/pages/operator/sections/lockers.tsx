import { useSignal } from '@preact/signals'
import type { LockerOverTerms } from '@svc/api/internal'
import type { OperatorGrowth, OperatorLocker } from '@svc/api/operations'
import { useMemo } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/operator'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { Field } from '../../../ui/field.tsx'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { Chart } from '../chart/chart.tsx'
import { Choice, chosenWord } from '../choice.tsx'
import { useLive } from '../live.ts'
import { OPERATIONS, Pager, query, type SectionProps, Shown, When } from '../parts.tsx'
import { linkTo, param } from '../place.ts'
import { chosenRange, RangePicker } from '../range.tsx'
import { rangeQuery } from '../time-range.ts'
import { LockerState, OneLocker } from './locker.tsx'

const t = texts.lockers
const HOUR = 3_600
const SLOWLY_MS = 60_000
/** As the gateway has it. */
const MIN_QUERY = 3

export function Lockers({ mayAct }: SectionProps) {
  const id = param('locker')
  const sought = param('q')
  if (id) return <OneLocker key={id} id={id} mayAct={mayAct} />
  return (
    <>
      <Finder key={sought} sought={sought} />
      {sought ? (
        <Found key={sought} sought={sought} />
      ) : (
        <>
          <Growth />
          <OverTerms />
        </>
      )}
    </>
  )
}

function Finder({ sought }: { sought: string }) {
  const text = useSignal(sought)
  const problem = useSignal<string | null>(null)
  return (
    <search>
      <form
        class="card search-line"
        onSubmit={(event) => {
          event.preventDefault()
          const wanted = text.value.trim()
          if (wanted.length < MIN_QUERY) problem.value = t.short
          else location.hash = linkTo('lockers', { q: wanted })
        }}
      >
        <Field label={t.findLabel} error={problem.value}>
          {(control) => (
            <input
              {...control}
              type="search"
              class="mono"
              autocomplete="off"
              spellcheck={false}
              maxLength={200}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value
                problem.value = null
              }}
            />
          )}
        </Field>
        <Button type="submit" kind="primary">
          {t.submit}
        </Button>
      </form>
    </search>
  )
}

function Found({ sought }: { sought: string }) {
  const cursor = useSignal('')
  const live = useLive<{ lockers: OperatorLocker[]; next_cursor?: string }>(
    query(`${OPERATIONS}/lockers`, { q: sought, cursor: cursor.value, limit: 50 }),
    undefined,
    SLOWLY_MS,
  )
  return (
    <Card title={t.found(sought)} aside={<a href={linkTo('lockers')}>{t.clear}</a>}>
      <Shown live={live}>
        {({ lockers, next_cursor }) =>
          lockers.length === 0 ? (
            <p>
              {t.nothing}. {t.nothingText}
            </p>
          ) : (
            <>
              <Table
                caption={texts.table(t.found(sought))}
                head={[t.locker, t.state, t.owner, t.provider, t.files, t.storage, t.expires]}
                numeric={[4, 5]}
                rows={lockers.map((locker) => [
                  <LockerLink key="locker" id={locker.locker_id} />,
                  <LockerState key="state" restriction={locker.restriction} />,
                  <code key="owner" class="short" title={locker.owner}>
                    {locker.owner}
                  </code>,
                  locker.provider,
                  common.number(locker.file_count),
                  common.bytes(locker.total_bytes),
                  <Until key="until" expiresAt={locker.expires_at} isEnded={locker.ended} />,
                ])}
              />
              <Pager
                cursor={cursor.value}
                next={next_cursor}
                onCursor={(next) => {
                  cursor.value = next
                }}
              />
            </>
          )
        }
      </Shown>
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
  const live = useLive<OperatorGrowth>(
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
  growth: OperatorGrowth
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
  const cursor = useSignal('')
  const live = useLive<{ lockers: LockerOverTerms[]; next_cursor?: string }>(
    query('/v1/internal/lockers/over-terms', { cursor: cursor.value, limit: 50 }),
    undefined,
    SLOWLY_MS,
  )
  const usedOf = ({ used, bought }: { used: number; bought: number }, format: (value: number) => string) =>
    t.usedOf(format(used), format(bought))
  return (
    <Card title={t.overTerms}>
      <p class="about">{t.overTermsText}</p>
      <Shown live={live}>
        {({ lockers, next_cursor }) =>
          lockers.length === 0 && !cursor.value ? (
            <p class="after">{t.noneOver}</p>
          ) : (
            <>
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
                  provider,
                  <Until key="until" expiresAt={expires_at} isEnded={ended} />,
                ])}
              />
              <Pager
                cursor={cursor.value}
                next={next_cursor}
                onCursor={(next) => {
                  cursor.value = next
                }}
              />
            </>
          )
        }
      </Shown>
    </Card>
  )
}
