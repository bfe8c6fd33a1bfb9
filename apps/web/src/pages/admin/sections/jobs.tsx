import type { AdminJob, AdminJobDetails, AdminOverview } from '@svc/api/operations'
import { texts } from '#texts/admin'
import { common } from '#texts/common'
import { Card } from '../../../ui/card.tsx'
import { Code, JsonText } from '../../../ui/code.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Status } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import { type Action, ActionButton } from '../action.tsx'
import { useLive } from '../live.ts'
import { linkTo, param } from '../location.ts'
import { Pages } from '../pages.tsx'
import { Facts, OPERATIONS, type SectionProps, Shown, When, word } from '../parts.tsx'
import { useOverview } from './overview.tsx'

const t = texts.jobs
const STATES = ['dead', 'running', 'waiting', 'delayed'] as const
type JobState = (typeof STATES)[number]
const TONES = { dead: 'bad', running: 'info', waiting: 'neutral', delayed: 'neutral' } as const

export function Jobs({ mayAct }: SectionProps) {
  const id = param('job')
  if (id) return <OneJob key={id} id={id} mayAct={mayAct} />
  const state = STATES.find((name) => name === param('state')) ?? 'dead'
  const kind = param('kind')
  return (
    <Shown live={useOverview()}>
      {({ jobs }) => (
        <>
          <nav class="range-choice" aria-label={t.choose}>
            {STATES.map((name) => (
              <a key={name} href={linkTo('jobs', { state: name, kind })} aria-current={name === state || undefined}>
                {t.states[name]} <b>{common.number(jobs[name])}</b>
              </a>
            ))}
          </nav>
          <JobList key={`${state} ${kind}`} state={state} kind={kind} mayAct={mayAct} />
          <Kinds byKind={jobs.by_kind} />
        </>
      )}
    </Shown>
  )
}

function Kinds({ byKind }: { byKind: AdminOverview['jobs']['by_kind'] }) {
  const kinds = Object.entries(byKind)
    .filter(([, counts]) => STATES.some((state) => counts[state] > 0))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return (
    <Card title={t.byKind}>
      {kinds.length === 0 ? (
        <p>{t.noneEver}</p>
      ) : (
        <Table
          caption={texts.table(t.byKind)}
          head={[t.kind, ...STATES.map((state) => t.states[state])]}
          numeric={[1, 2, 3, 4]}
          rows={kinds.map(([kind, counts]) => [
            <code key="kind">{kind}</code>,
            ...STATES.map((state) =>
              counts[state] > 0 ? (
                <a key={state} href={linkTo('jobs', { state, kind })}>
                  {common.number(counts[state])}
                </a>
              ) : (
                '0'
              ),
            ),
          ])}
        />
      )}
    </Card>
  )
}

function JobList({ state, kind, mayAct }: { state: JobState; kind: string; mayAct: boolean }) {
  const isDead = state === 'dead'
  const rowOf = (job: AdminJob) => [
    <a key="job" href={linkTo('jobs', { job: job.job_id })} title={job.job_id}>
      <code class="short">{job.job_id}</code>
    </a>,
    <code key="kind">{job.kind}</code>,
    common.number(job.attempts),
    ...(isDead
      ? [
          <When key="failed" iso={job.failed_at} />,
          <span key="error" class="reason">
            {job.error}
          </span>,
          ...(mayAct ? [<JobActions key="act" job={job} />] : []),
        ]
      : [<When key="due" iso={job.due_at} />]),
  ]
  const head = [t.job, t.kind, t.attempts, ...(isDead ? [t.failedAt, t.error, ...(mayAct ? [t.act] : [])] : [t.due])]
  return (
    <Card
      title={t.list(t.states[state])}
      aside={
        kind && (
          <span class="row">
            <span class="chip">{kind}</span>
            <a href={linkTo('jobs', { state })}>{t.anyKind}</a>
          </span>
        )
      }
    >
      <Pages<{ jobs: AdminJob[]; next_cursor?: string }>
        path={`${OPERATIONS}/jobs`}
        params={{ state, kind }}
        isEmpty={({ jobs }) => jobs.length === 0}
        empty={<p>{t.none[state]}</p>}
      >
        {({ jobs }) => (
          <Table caption={texts.table(t.list(t.states[state]))} head={head} numeric={[2]} rows={jobs.map(rowOf)} />
        )}
      </Pages>
    </Card>
  )
}

function JobActions({ job: { job_id, kind } }: { job: Pick<AdminJob, 'job_id' | 'kind'> }) {
  const path = `${OPERATIONS}/jobs/${encodeURIComponent(job_id)}`
  const retry: Action = {
    ...t.retry,
    title: t.retry.title(job_id),
    effects: t.retry.effects(kind),
    target: job_id,
    method: 'POST',
    path: `${path}/retry`,
    body: () => ({}),
    outcome: ({ job_id: made }: { job_id: string | null }) => (made === null ? t.retry.waits : t.retry.done(made)),
  }
  const remove: Action = {
    ...t.remove,
    title: t.remove.title(job_id),
    effects: t.remove.effects(kind),
    isDangerous: true,
    target: job_id,
    method: 'POST',
    path: `${path}/delete`,
    body: () => ({}),
  }
  return (
    <div class="row actions">
      <ActionButton action={retry} />
      <ActionButton action={remove} />
    </div>
  )
}

function OneJob({ id, mayAct }: { id: string; mayAct: boolean }) {
  const live = useLive<AdminJobDetails>(`${OPERATIONS}/jobs/${encodeURIComponent(id)}`)
  const back = (
    <p>
      <a href={linkTo('jobs')}>{t.back}</a>
    </p>
  )
  if (live.error?.status === 404)
    return (
      <>
        {back}
        <Empty title={t.missing} text={t.missingText} />
      </>
    )
  return (
    <>
      {back}
      <Shown live={live}>
        {(job) => (
          <Card
            title={`${job.kind} ${job.job_id}`}
            aside={<Status tone={TONES[job.state]}>{word(t.states, job.state)}</Status>}
          >
            <div class="stack">
              <Facts
                facts={[
                  [t.attempts, common.number(job.attempts)],
                  ...(job.due_at === null ? [] : [[t.due, texts.time(job.due_at)] as const]),
                  ...(job.failed_at === null ? [] : [[t.failedAt, texts.time(job.failed_at)] as const]),
                  ...(job.key === null ? [] : [[t.key, <code key="key">{job.key}</code>] as const]),
                  ...(job.error === null ? [] : [[t.error, job.error] as const]),
                ]}
              />
              <Code title={t.payload} label={t.payload} text={JSON.stringify(job.payload, null, 2)}>
                <JsonText text={JSON.stringify(job.payload, null, 2)} />
              </Code>
              {mayAct && job.state === 'dead' && <JobActions job={job} />}
            </div>
          </Card>
        )}
      </Shown>
    </>
  )
}
