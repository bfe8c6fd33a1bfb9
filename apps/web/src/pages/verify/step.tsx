import type { ComponentChildren } from 'preact'
import { texts as t } from '#texts/verify'
import { Card } from '../../ui/card.tsx'
import { Status } from '../../ui/status.tsx'
import type { CheckedBundle } from './worker/messages.ts'

interface StepProps {
  id: 'files' | 'keys' | 'node'
  title: string
  /** The facts that the step decides. */
  facts: readonly string[]
  /** Null before a bundle is open. */
  bundle: CheckedBundle | null
  children: ComponentChildren
}

/** What the visitor adds to the check, with its outcome. */
export function StepCard({ id, title, facts, bundle, children }: StepProps) {
  const values = bundle ? facts.flatMap((name) => bundle.facts[name]?.value ?? []) : []
  const outcome = values.includes('failed')
    ? 'failed'
    : values.length > 0 && values.every((value) => value === 'passed')
      ? 'passed'
      : 'open'
  const tone = { failed: 'bad', passed: 'good', open: 'neutral' } as const
  return (
    <div id={id} class="part">
      <Card
        title={bundle ? t.steps.title(id, title) : title}
        aside={values.length > 0 && <Status tone={tone[outcome]}>{t.steps[outcome]}</Status>}
      >
        {children}
      </Card>
    </div>
  )
}
