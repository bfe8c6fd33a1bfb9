// The progress of a statement, from its signature to finality on chain, and the table of statements.

import type { PushResult } from '@svc/api/attestations'
import { explorerUrl } from '@svc/sdk/explorer'
import { common } from '#texts/common'
import { texts } from '#texts/locker'
import { publicUrl } from '../../gateway.ts'
import { Icon } from '../../ui/icons.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import type { Statement } from './statements.ts'

const t = texts.proof

type Mark = 'done' | 'busy' | 'stopped' | 'next'

interface StepsProps {
  statement: Statement | undefined
  /** The result of the last publication from this page. */
  push: PushResult | null
  doing: 'attest' | 'push' | null
}

export function ProofSteps({ statement, push, doing }: StepsProps) {
  if (!statement && !doing) return null
  const steps: (readonly [Mark, string])[] =
    doing === 'attest' || !statement
      ? [
          ['busy', t.signing],
          ['next', t.publishing],
          ['next', t.finalSoon],
        ]
      : [['done', t.signed(statement.sequence)], published(statement, push, doing), final(statement)]
  return (
    <ol class="steps" aria-label={t.steps} aria-live="polite">
      {steps.map(([mark, words]) => (
        <li key={words}>
          <StepMark mark={mark} />
          <span>{words}</span>
        </li>
      ))}
    </ol>
  )
}

function published({ anchor, anchor_absence }: Statement, push: PushResult | null, doing: StepsProps['doing']) {
  if (anchor) return ['done', t.published(anchor.slot === null ? '' : common.number(anchor.slot))] as const
  if (doing === 'push') return ['busy', t.publishing] as const
  const publishAfter = anchor_absence?.publish_after ?? push?.publish_after
  if (publishAfter !== undefined) return ['stopped', t.deferred(texts.moment(publishAfter))] as const
  if (push?.status === 'skipped') return ['stopped', t.skipped] as const
  if (push?.status === 'failed') return ['stopped', t.failed] as const
  return push === null ? (['stopped', t.notPublished] as const) : (['busy', t.publishing] as const)
}

function final({ anchor }: Statement) {
  if (anchor?.finalized) return ['done', t.final] as const
  return [anchor ? 'busy' : 'next', t.finalSoon] as const
}

function StepMark({ mark }: { mark: Mark }) {
  return (
    <span class={`mark ${mark}`} aria-hidden="true">
      {mark === 'done' && <Icon name="check" />}
      {mark === 'busy' && <span class="spinner" />}
      {mark === 'stopped' && '!'}
    </span>
  )
}

export function StatementTable({ statements }: { statements: readonly Statement[] }) {
  return (
    <Table
      caption={t.caption}
      head={[t.number, t.made, t.anchor, t.files]}
      numeric={[3]}
      rows={statements.map((statement) => [
        common.number(statement.sequence),
        <span key="made" class="moment">
          {texts.moment(statement.issued_at)}
        </span>,
        <AnchorCell key="anchor" statement={statement} />,
        common.number(statement.file_count),
      ])}
    />
  )
}

function AnchorCell({ statement }: { statement: Statement }) {
  const { anchor } = statement
  const [tone, words] = anchorState(statement)
  const page = anchor && explorerUrl({ network: anchor.chain, tx: anchor.tx, service: publicUrl() })
  return (
    <span class="anchor-cell">
      <Status tone={tone}>{words}</Status>
      {anchor &&
        (page ? (
          <a href={page} target="_blank" rel="noreferrer noopener">
            {t.transaction}
          </a>
        ) : (
          <code title={anchor.tx}>{anchor.tx}</code>
        ))}
    </span>
  )
}

function anchorState({ anchor, anchor_absence }: Statement): [Tone, string] {
  const words = t.onChain
  if (anchor) return anchor.finalized ? ['good', words.final] : ['info', words.confirmed]
  if (anchor_absence?.reason === 'superseded') return ['neutral', words.superseded]
  return anchor_absence ? ['warn', words.waits] : ['neutral', words.none]
}
