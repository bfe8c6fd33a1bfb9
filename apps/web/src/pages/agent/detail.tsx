// One delegation: its findings with valid signatures, its mirrors and its runs.

import { useSignal } from '@preact/signals'
import type { Delegation, Finding } from '@svc/api/agent/delegations'
import { UntrueAnswer } from '@svc/sdk/errors'
import { printable } from '@svc/verifier/untrusted'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/agent'
import { Button } from '../../ui/button.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type MirrorView, mirrorViews } from './mirrors.ts'
import { explainAgent } from './problems.ts'
import type { AgentSession } from './service.ts'

const t = texts.detail
const PAGE = 50
const MAX_TEXT = 300

export function DelegationDetail({ session, delegationId }: { session: AgentSession; delegationId: string }) {
  const loaded = useSignal<Delegation | null>(null)
  const untrue = useSignal<string | null>(null)
  const { isBusy, problem, run } = useAction(explainAgent)
  const load = () =>
    run(async () => {
      untrue.value = null
      try {
        // The SDK checks the complete log before it returns any entry.
        loaded.value = await session.agent.delegation(delegationId)
      } catch (error) {
        loaded.value = null
        if (!(error instanceof UntrueAnswer)) throw error
        untrue.value = printable(error.message, MAX_TEXT)
      }
    })
  useEffect(() => void load(), [])
  if (problem) return <ProblemNote problem={problem} retry={() => void load()} />
  if (untrue.value !== null)
    return (
      <div class="note note-bad" role="alert">
        <b>{t.untrue}</b>
        <p>{t.untrueText(untrue.value)}</p>
      </div>
    )
  if (isBusy || !loaded.value) return <Loading label={texts.waiting} />
  const delegation = loaded.value
  const mirrors = mirrorViews(delegation)
  return (
    <div class="stack delegation-detail">
      <Findings log={delegation.log} />
      {mirrors.length > 0 && <Mirrors mirrors={mirrors} />}
      {delegation.tasks.tell && <Webhook delegation={delegation} />}
      <Runs of={delegation} />
    </div>
  )
}

/** The findings, the newest first. */
function Findings({ log }: { log: readonly Finding[] }) {
  const shown = useSignal(PAGE)
  const newest = log.toReversed()
  const signers = [...new Set(log.map(({ signer_pubkey }) => signer_pubkey))]
  return (
    <div class="stack">
      <h3>{t.findings}</h3>
      {log.length === 0 ? (
        <p class="soft">{t.empty}</p>
      ) : (
        <>
          <div class="agent-checked">
            <Icon name="check" />
            <div>
              <b>{t.checked(log.length)}</b>
              <p>{t.checkedText}</p>
              {signers.map((key) => (
                <p key={key} class="agent-key">
                  {t.key} <Copyable text={key} what={t.keyName} />
                </p>
              ))}
            </div>
          </div>
          <ol class="findings">
            {newest.slice(0, shown.value).map((finding) => (
              <FindingRow key={finding.sequence} finding={finding} />
            ))}
          </ol>
          {newest.length > shown.value && (
            <div class="row">
              <Button
                onClick={() => {
                  shown.value += PAGE
                }}
              >
                {t.more(Math.min(PAGE, newest.length - shown.value))}
              </Button>
            </div>
          )}
        </>
      )}
    </div>
  )
}

function FindingRow({ finding }: { finding: Finding }) {
  const { kind, severity, at, detail } = finding
  return (
    <li class="finding">
      <div class="finding-head">
        <Status tone={severity === 'alert' ? 'bad' : 'info'}>{t.severities[severity]}</Status>
        <b>{t.kinds[kind] ?? printable(kind, 50)}</b>
        <time dateTime={at}>{texts.time(at)}</time>
      </div>
      <dl>
        {Object.entries(detail).map(([name, value]) => (
          <div key={name}>
            <dt>{Object.hasOwn(t.details, name) ? t.details[name] : printable(name, 50)}</dt>
            <dd>
              <bdi>{printable(valueText(value), MAX_TEXT)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </li>
  )
}

function valueText(value: unknown): string {
  if (value === null) return '–'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const MIRROR_TONES = { ok: 'good', waiting: 'neutral', failing: 'bad', unknown: 'warn' } as const

function Mirrors({ mirrors }: { mirrors: readonly MirrorView[] }) {
  return (
    <div class="stack">
      <h3>{t.mirrors}</h3>
      <ul class="findings">
        {mirrors.map(({ filename, url, state, reason }) => (
          <li key={filename} class="finding">
            <div class="finding-head">
              <Status tone={MIRROR_TONES[state]}>{t.mirrorStates[state]}</Status>
              <b>
                <bdi>{printable(filename, MAX_TEXT)}</bdi>
              </b>
            </div>
            <p class="soft">
              <bdi>{printable(url, MAX_TEXT)}</bdi>
            </p>
            {reason !== null && <p>{printable(reason, MAX_TEXT)}</p>}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Webhook({ delegation: { tasks, told, webhook_secret } }: { delegation: Delegation }) {
  const isShown = useSignal(false)
  return (
    <div class="stack">
      <h3>{t.tasks.tell}</h3>
      <p>
        <bdi>{t.sends(printable(tasks.tell?.url ?? '', MAX_TEXT))}</bdi>
        {told && ` · ${t.deliveries(told.delivered, told.undelivered)}`}
      </p>
      {told?.last_error && <p class="field-error">{printable(told.last_error, MAX_TEXT)}</p>}
      {webhook_secret !== undefined &&
        (isShown.value ? (
          <Copyable text={printable(webhook_secret, 100)} what={t.secret} />
        ) : (
          <div class="row">
            <Button
              kind="quiet"
              onClick={() => {
                isShown.value = true
              }}
            >
              {t.showSecret}
            </Button>
          </div>
        ))}
    </div>
  )
}

const RUN_TONES = { running: 'info', done: 'good', failed: 'bad', stopped: 'warn' } as const

function summaryText(summary: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(summary).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${valueText(value)}`)
  return parts.join(', ')
}

function Runs({ of: { runs } }: { of: Delegation }) {
  return (
    <div class="stack">
      <h3>{t.runs}</h3>
      {runs.length === 0 ? (
        <p class="soft">{t.noRuns}</p>
      ) : (
        <>
          <p class="field-hint">{t.runsText}</p>
          <ul class="findings">
            {runs.map(({ task, started_at, outcome, summary }) => (
              <li key={`${task} ${started_at}`} class="finding">
                <div class="finding-head">
                  <Status tone={RUN_TONES[outcome] ?? 'neutral'}>
                    {t.outcomes[outcome] ?? printable(outcome, 30)}
                  </Status>
                  <b>{t.tasks[task] ?? printable(task, 30)}</b>
                  <time dateTime={started_at}>{texts.time(started_at)}</time>
                </div>
                <p class="soft">
                  <bdi>{printable(summaryText(summary), MAX_TEXT)}</bdi>
                </p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
