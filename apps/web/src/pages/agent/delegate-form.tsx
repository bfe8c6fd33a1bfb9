// Delegates a locker to the service. The summary above the button shows exactly what is sent.

import { type Signal, useSignal } from '@preact/signals'
import { DEFAULT_HOURS, type Tasks } from '@svc/api/agent/tasks'
import type { ListedLocker } from '@svc/api/lockers'
import { printable } from '@svc/verifier/untrusted'
import { texts } from '#texts/agent'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Check } from '../../ui/check.tsx'
import { Field } from '../../ui/field.tsx'
import { nameOf } from '../../ui/locker-name.ts'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { explainAgent } from './problems.ts'
import type { AgentSession } from './service.ts'

const t = texts.delegate
const HOURS = [1, 6, 12, 24, 168]
const MAX_LOCKERS = 1_000

interface DelegateProps {
  session: AgentSession
  /** Receipts of delegated lockers. */
  delegated: ReadonlySet<string>
  /** `key` is the registered key; null if registration failed. */
  onDelegated: (message: string, key: string | null) => void
}

export function DelegateCard({ session, delegated, onDelegated }: DelegateProps) {
  const lockers = useSignal<readonly ListedLocker[] | null>(null)
  const { isBusy, problem, run } = useAction(explainAgent)
  const load = () =>
    run(async () => {
      const found: ListedLocker[] = []
      for await (const locker of session.gateway.lockers()) {
        if (locker.role === 'owner' && locker.opened) found.push(locker)
        if (found.length === MAX_LOCKERS) break
      }
      lockers.value = found
    })
  return (
    <Card title={t.title}>
      {lockers.value === null ? (
        <div class="stack">
          <p class="soft">{t.loadText}</p>
          {isBusy && <Loading label={texts.waiting} />}
          {problem && <ProblemNote problem={problem} />}
          <div class="row">
            <Button busy={isBusy} onClick={() => void load()}>
              {t.load}
            </Button>
          </div>
        </div>
      ) : lockers.value.length === 0 ? (
        <div class="stack">
          <p>{t.noLockers}</p>
          <div class="row">
            <a class="button button-primary" href={urlOf('/buy')}>
              {t.buy}
            </a>
          </div>
        </div>
      ) : (
        <DelegateForm session={session} lockers={lockers.value} delegated={delegated} onDelegated={onDelegated} />
      )}
    </Card>
  )
}

interface Source {
  url: string
  filename: string
}

function DelegateForm({
  session,
  lockers,
  delegated,
  onDelegated,
}: DelegateProps & { lockers: readonly ListedLocker[] }) {
  const receiptId = useSignal((lockers[0] as ListedLocker).receipt_id)
  const watch = useSignal(true)
  const hours = useSignal(DEFAULT_HOURS)
  const bytes = useSignal(true)
  const mirror = useSignal(false)
  const mirrorHours = useSignal(DEFAULT_HOURS)
  const sources = useSignal<readonly Source[]>([{ url: '', filename: '' }])
  const tell = useSignal(false)
  const tellUrl = useSignal('')
  const onlyAlerts = useSignal(true)
  const isTried = useSignal(false)
  const { isBusy, problem, run } = useAction(explainAgent)
  const locker = lockers.find(({ receipt_id }) => receipt_id === receiptId.value) as ListedLocker
  const isDelegated = delegated.has(receiptId.value)

  const tasks: Tasks = {
    ...(watch.value && { watch: { every_hours: hours.value, read_bytes: bytes.value } }),
    ...(mirror.value && {
      mirror: {
        sources: sources.value.map(({ url, filename }) => ({ url: url.trim(), filename: filename.trim() })),
        every_hours: mirrorHours.value,
      },
    }),
    ...(tell.value && { tell: { url: tellUrl.value.trim(), only_alerts: onlyAlerts.value } }),
  }
  const objection = isTried.value ? objectionTo(tasks) : null
  const submit = (event: Event) => {
    event.preventDefault()
    isTried.value = true
    if (objectionTo(tasks) !== null) return
    void run(async () => {
      const { agent_pubkey } = await session.agent.delegate(locker.receipt_id, tasks)
      try {
        await session.gateway.addOperator(locker, agent_pubkey)
      } catch (error) {
        onDelegated(t.half, null)
        throw error
      }
      isTried.value = false
      onDelegated(t.done, agent_pubkey)
    })
  }
  return (
    <form class="stack agent-form" onSubmit={submit}>
      <Field label={t.locker} hint={isDelegated ? t.isDelegated : undefined}>
        {(control) => (
          <select
            {...control}
            value={receiptId.value}
            onChange={(event) => {
              receiptId.value = event.currentTarget.value
            }}
          >
            {lockers.map((one) => (
              <option key={one.receipt_id} value={one.receipt_id}>
                {lockerLabel(one)}
              </option>
            ))}
          </select>
        )}
      </Field>

      <Check label={t.watch} checked={watch} />
      {watch.value && (
        <div class="agent-part">
          <Often hours={hours} />
          <Check label={t.bytes} checked={bytes} />
        </div>
      )}

      <Check label={t.mirror} checked={mirror} />
      {mirror.value && (
        <div class="agent-part">
          <Sources sources={sources} />
          <Often hours={mirrorHours} />
        </div>
      )}

      <Check label={t.tell} checked={tell} />
      {tell.value && (
        <div class="agent-part">
          <Field label={t.tellUrl} hint={t.tellHint}>
            {(control) => (
              <input
                {...control}
                type="url"
                autocomplete="off"
                value={tellUrl.value}
                onInput={(event) => {
                  tellUrl.value = event.currentTarget.value
                }}
              />
            )}
          </Field>
          <Check label={t.onlyAlerts} checked={onlyAlerts} />
        </div>
      )}

      <section class="agent-summary" aria-label={t.summary}>
        <h3>{t.summary}</h3>
        <ul>
          <li>{t.rights(lockerLabel(locker))}</li>
          {tasks.watch && <li>{t.doesWatch(t.hours(hours.value), bytes.value)}</li>}
          {tasks.mirror && <li>{t.doesMirror(tasks.mirror.sources.length, t.hours(mirrorHours.value))}</li>}
          {tasks.tell && <li>{t.doesTell(hostOf(tasks.tell.url), onlyAlerts.value)}</li>}
          <li>{t.not}</li>
        </ul>
      </section>
      {objection !== null && (
        <p class="field-error" role="alert">
          {objection}
        </p>
      )}
      {isBusy && <Loading label={texts.waiting} />}
      {problem && <ProblemNote problem={problem} />}
      <div class="row">
        <Button kind="primary" type="submit" busy={isBusy}>
          {isDelegated ? t.change : t.submit}
        </Button>
        <span class="field-hint">{t.steps}</span>
      </div>
    </form>
  )
}

/** The name of a locker, or else the distinguishing part of its id. */
function lockerLabel(locker: ListedLocker): string {
  const name = nameOf(locker)
  return name ? `${name} (${locker.locker_id.slice(0, 14)}…)` : locker.locker_id
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '…'
}

function objectionTo({ watch, mirror, tell }: Tasks): string | null {
  if (!watch && !mirror) return t.nothing
  const urls = [...(mirror?.sources.map(({ url }) => url) ?? []), ...(tell ? [tell.url] : [])]
  if (urls.some((url) => !url.startsWith('https://') || !URL.canParse(url))) return t.notHttps
  const names = mirror?.sources.map(({ filename }) => filename) ?? []
  if (names.some((name) => name === '')) return t.noName
  return new Set(names).size === names.length ? null : t.twice
}

function Often({ hours }: { hours: Signal<number> }) {
  return (
    <Field label={t.every}>
      {(control) => (
        <select
          {...control}
          value={hours.value}
          onChange={(event) => {
            hours.value = Number(event.currentTarget.value)
          }}
        >
          {HOURS.map((value) => (
            <option key={value} value={value}>
              {t.hours(value)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

const MAX_SOURCES = 50

function Sources({ sources }: { sources: Signal<readonly Source[]> }) {
  const change = (place: number, part: Partial<Source>) => {
    sources.value = sources.value.map((source, i) => (i === place ? { ...source, ...part } : source))
  }
  return (
    <>
      {sources.value.map(({ url, filename }, i) => (
        <div key={i} class="agent-source">
          <Field label={t.mirrorUrl}>
            {(control) => (
              <input
                {...control}
                type="url"
                autocomplete="off"
                value={url}
                onInput={({ currentTarget: { value } }) =>
                  change(i, { url: value, ...(filename === nameIn(url) && { filename: nameIn(value) }) })
                }
              />
            )}
          </Field>
          <Field label={t.mirrorName}>
            {(control) => (
              <input
                {...control}
                autocomplete="off"
                maxLength={1024}
                value={filename}
                onInput={({ currentTarget: { value } }) => change(i, { filename: value })}
              />
            )}
          </Field>
          {sources.value.length > 1 && (
            <Button
              kind="quiet"
              onClick={() => {
                sources.value = sources.value.filter((_, place) => place !== i)
              }}
              label={`${t.mirrorRemove} ${i + 1}`}
            >
              {t.mirrorRemove}
            </Button>
          )}
        </div>
      ))}
      {sources.value.length < MAX_SOURCES && (
        <div class="row">
          <Button
            onClick={() => {
              sources.value = [...sources.value, { url: '', filename: '' }]
            }}
          >
            {t.mirrorAdd}
          </Button>
        </div>
      )}
    </>
  )
}

/** A file name for the address. */
function nameIn(url: string): string {
  if (!URL.canParse(url)) return ''
  return printable(new URL(url).pathname.split('/').at(-1) ?? '', 200)
}
