import type { AdminOverview, AdminSales, AuditLog } from '@svc/api/operations'
import type { ComponentChildren } from 'preact'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { Icon } from '../../../ui/icons.tsx'
import { Status } from '../../../ui/status.tsx'
import { sol } from '../amounts.ts'
import { useLive } from '../live.ts'
import { Notice, OPERATIONS, query, Shown, word } from '../parts.tsx'
import { rangeQuery } from '../time-range.ts'
import { type Finding, findingsOf } from './findings.ts'
import { useUnclaimed } from './payments.tsx'

const t = texts.overview
const SLOWLY_MS = 60_000

export function useOverview() {
  return useLive<AdminOverview>(`${OPERATIONS}/overview`)
}

export function Overview() {
  const overview = useOverview()
  const audit = useLive<AuditLog>(`${OPERATIONS}/audit?limit=1`, undefined, SLOWLY_MS)
  const overTerms = useLive<{ lockers: unknown[]; next_cursor?: string }>(
    '/v1/internal/lockers/over-terms?limit=100',
    undefined,
    SLOWLY_MS,
  )
  const unclaimed = useUnclaimed()
  const week = useLive<AdminSales>('sales of the week', weekPath, SLOWLY_MS)
  return (
    <Shown live={overview}>
      {(value) => (
        <>
          <Findings
            findings={findingsOf({
              overview: value,
              audit: audit.value,
              overTerms: overTerms.value,
              unclaimed: unclaimed.value,
            })}
          />
          <Tiles overview={value} week={week.value} />
          {value.warnings.length > 0 && (
            <Card title={t.warnings}>
              <ul class="effects">
                {value.warnings.map((warning) => (
                  <li key={warning}>{warning}</li>
                ))}
              </ul>
            </Card>
          )}
          <p class="faint">{t.countedAt(texts.time(value.counted_at))}</p>
        </>
      )}
    </Shown>
  )
}

function weekPath(): string {
  return query(`${OPERATIONS}/sales`, { ...rangeQuery('7d'), bucket: 'day' })
}

function Findings({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0) return <Notice tone="good" title={t.allWell} />
  const bad = findings.filter(({ tone }) => tone === 'bad').length
  const title = t.findings(bad, findings.length - bad)
  return (
    <section class="stack" aria-label={title}>
      <h2>{title}</h2>
      <ul class="findings">
        {findings.map(({ tone, text, to }) => (
          <li key={text}>
            <a href={to}>
              <Status tone={tone}>{t.tone[tone]}</Status>
              {text}
              <Icon name="arrow" />
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Tiles({ overview, week }: { overview: AdminOverview; week: AdminSales | null }) {
  const { attestations, anchors, jobs, providers, chains, price_feed } = overview
  const { pending, computed, pushing, complete } = attestations.counts
  const up = providers.filter(({ healthy }) => healthy).length
  const used = chains.filter(({ state }) => state !== 'disabled')
  const sold = week?.periods.reduce((sum, { price_usd }) => sum + price_usd, 0)
  const purchases = week?.periods.reduce((sum, { purchases, renewals }) => sum + purchases + renewals, 0)
  const feed = { ok: '', disabled: '', degraded: 'warn', failing: 'bad' } as const
  return (
    <div class="tiles">
      <Tile name={t.week} to="#sales?range=7d" value={sold === undefined ? texts.none : texts.dollars(sold)}>
        {purchases !== undefined && t.weekDetail(purchases)}
      </Tile>
      <Tile name={t.total} to="#sales?range=1y" value={texts.dollars(overview.price_usd_total)}>
        {t.totalDetail(overview.purchases)}
      </Tile>
      <Tile name={t.lockers} to="#lockers" value={common.number(overview.lockers)}>
        {t.lockersDetail(overview.frozen, overview.taken_down)}
      </Tile>
      <Tile name={t.bytes} to="#lockers" value={common.bytes(overview.bytes)}>
        {t.bytesDetail(overview.files)}
      </Tile>
      <Tile name={t.attestations} to="#attestations" value={common.number(pending + computed + pushing)}>
        {t.attestationsDetail(complete)}
      </Tile>
      <Tile
        name={t.anchors}
        to="#attestations"
        value={anchors ? common.number(anchors.published) : texts.none}
        tone={anchors?.low_balance ? 'warn' : ''}
      >
        {anchors ? t.anchorsDetail(sol(anchors.fee_lamports_total)) : t.anchorsOff}
      </Tile>
      <Tile name={t.jobs} to="#jobs" value={common.number(jobs.dead)} tone={jobs.dead > 0 ? 'bad' : ''}>
        {t.jobsDetail(jobs.waiting + jobs.delayed, jobs.running)}
      </Tile>
      <Tile
        name={t.providers}
        to="#providers"
        value={t.of(up, providers.length)}
        tone={up < providers.length ? 'bad' : ''}
      >
        {t.providersDetail(used.filter(({ state }) => state === 'ok').length, used.length)}
      </Tile>
      <Tile
        name={t.feed}
        to="#prices"
        value={word(texts.prices.states, price_feed.state)}
        tone={feed[price_feed.state]}
      >
        {t.feedDetail(price_feed.prices.length)}
      </Tile>
    </div>
  )
}

interface TileProps {
  name: string
  value: string
  to: string
  tone?: 'warn' | 'bad' | ''
  children: ComponentChildren
}

function Tile({ name, value, to, tone = '', children }: TileProps) {
  return (
    <a class={tone ? `tile tile-${tone}` : 'tile'} href={to}>
      <span class="tile-name">{name}</span> <b>{value}</b> <span>{children}</span>
    </a>
  )
}
