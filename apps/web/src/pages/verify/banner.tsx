// The verdict: one of four, each with its own colour, sign and words, so that they cannot be confused.

import { type ComponentChildren, Fragment } from 'preact'
import { texts as t } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Icon, type IconName } from '../../ui/icons.tsx'
import { Progress } from '../../ui/progress.tsx'
import { adviceFor } from './advice.ts'
import { type Activity, type Checking, type Failure, verdictOf } from './checking.ts'
import type { CheckedBundle, CheckResult } from './worker/messages.ts'

export function Banner({ checking }: { checking: Checking }) {
  const { activity, failure, result } = checking
  if (activity.value) return <Working activity={activity.value} cancel={checking.cancel} />
  if (failure.value) return <FailureBanner failure={failure.value} again={() => void checking.again()} />
  return result.value && <ResultBanner result={result.value} />
}

function Working({ activity: { doing, step }, cancel }: { activity: Activity; cancel: () => void }) {
  return (
    <section class="verdict verdict-working" aria-live="polite" aria-label={t.activity[doing]}>
      <div>
        <Progress label={t.activity[doing]} done={step?.done ?? 0} of={step?.of ?? null} />
        <span class="verdict-bytes">{step && t.activity.bytes(step.done, step.of)}</span>
      </div>
      <Button onClick={cancel}>{t.activity.cancel}</Button>
    </section>
  )
}

function FailureBanner({ failure, again }: { failure: Failure; again: () => void }) {
  const [title, text] = failureText(failure)
  return (
    <Verdict kind="open" icon="warning" title={title}>
      <p>{text}</p>
      <Button onClick={again}>{t.failure.again}</Button>
    </Verdict>
  )
}

function failureText(failure: Failure): [title: string, text: string] {
  switch (failure.kind) {
    case 'cancelled':
      return [t.failure.cancelled, t.failure.cancelledText]
    case 'not_fetched':
      if (failure.status === null) return [t.failure.notFetched, t.failure.noAnswer]
      return [t.failure.notFetched, [failure.message, failure.hint].filter(Boolean).join('. ')]
    case 'broken':
      return [t.failure.broken, [t.failure.brokenText, failure.message].filter(Boolean).join(' — ')]
  }
}

function ResultBanner({ result }: { result: CheckResult }) {
  if (result.refused) {
    return (
      <Verdict kind="failed" icon="cross" title={t.verdict.refused}>
        <p>
          {t.verdict.refusedText} {result.refused.why} <code>({result.refused.code})</code>
        </p>
      </Verdict>
    )
  }
  const { failed, open, passed, notApplicable } = verdictOf(result)
  if (failed.length > 0) {
    return (
      <Verdict kind="failed" icon="cross" title={t.verdict.failed(failed.length)}>
        <p>{t.verdict.failedText}</p>
        <ul>
          {failed.map((name) => (
            <li key={name}>
              <a href={`#${name}`}>{t.facts[name]?.name}</a>: {whyOf(result, name)}
            </li>
          ))}
        </ul>
      </Verdict>
    )
  }
  if (open.length > 0) {
    return (
      <Verdict kind="open" icon="warning" title={t.verdict.open(open.length)}>
        {open.includes('key_pinned') && !result.key?.pinned && (
          <p>
            <b>{t.verdict.noKey}</b>
          </p>
        )}
        <p>{t.verdict.openText}</p>
        <OpenFacts result={result} open={open} />
        <NotApplicable names={notApplicable} />
      </Verdict>
    )
  }
  return (
    <Verdict kind="passed" icon="check" title={t.verdict.passed(passed.length)}>
      <p>{t.verdict.passedText}</p>
      <NotApplicable names={notApplicable} />
    </Verdict>
  )
}

function NotApplicable({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <p class="verdict-aside">
      {t.verdict.notApplicable} {names.map((name) => t.facts[name]?.name).join(', ')}
    </p>
  )
}

/** Unchecked facts; facts with the same advice share a line. */
function OpenFacts({ result, open }: { result: CheckedBundle; open: readonly string[] }) {
  const byAdvice = Map.groupBy(open, (name) => adviceFor(name, result).text)
  return (
    <ul>
      {[...byAdvice].map(([text, names]) => {
        const { href } = adviceFor(names[0] as string, result)
        return (
          <li key={text}>
            {href === null ? text : <a href={href}>{text}</a>}:{' '}
            {names.map((name, i) => (
              <Fragment key={name}>
                {i > 0 && ', '}
                <a class="verdict-fact" href={`#${name}`}>
                  {t.facts[name]?.name}
                </a>
              </Fragment>
            ))}
          </li>
        )
      })}
    </ul>
  )
}

function whyOf({ facts }: CheckedBundle, name: string): string {
  const fact = facts[name]
  return fact?.why ?? ''
}

interface VerdictProps {
  kind: 'passed' | 'failed' | 'open'
  icon: IconName
  title: string
  children: ComponentChildren
}

/** The sign, title and text of a verdict. */
export function Verdict({ kind, icon, title, children }: VerdictProps) {
  return (
    <section class={`verdict verdict-${kind}`} aria-label={title}>
      <span class="verdict-sign">
        <Icon name={icon} />
      </span>
      <div class="stack">
        <div role="status">
          <h2>{title}</h2>
        </div>
        {children}
      </div>
    </section>
  )
}
