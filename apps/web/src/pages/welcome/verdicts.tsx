// The three answers of a check, as the verify page words them.

import { texts } from '#texts/welcome'
import { urlOf } from '../../address.ts'
import { Card } from '../../ui/card.tsx'
import { Icon } from '../../ui/icons.tsx'

const t = texts.verdicts
const ANSWERS = [
  { kind: 'passed', icon: 'check', title: t.passed, text: t.passedText },
  { kind: 'open', icon: 'warning', title: t.open, text: t.openText },
  { kind: 'failed', icon: 'cross', title: t.failed, text: t.failedText },
] as const

export function Verdicts() {
  return (
    <Card title={t.title}>
      <div class="stack">
        <ul class="answers">
          {ANSWERS.map(({ kind, icon, title, text }) => (
            <li key={kind} class={`answer-${kind}`}>
              <Icon name={icon} />
              <b>{title}</b>
              <span>{text}</span>
            </li>
          ))}
        </ul>
        <div class="row">
          <a class="button" href={urlOf('/verify')}>
            {t.action}
          </a>
        </div>
      </div>
    </Card>
  )
}
