import { useSignal } from '@preact/signals'
import type { SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/log'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorState, Loading } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { type Entry, PAGE, readEntries } from './entries.ts'
import { isUnreadable, type ReadLog } from './log-reader.ts'

const t = texts.list

interface ListProps {
  log: ReadLog
  head: SignedCheckpoint
  /** An entry that the list must show; null for the newest. */
  shown: number | null
}

export function EntryList({ log, head: { size }, shown }: ListProps) {
  /** The index after the newest entry of the page. */
  const end = useSignal(size)
  const entries = useSignal<readonly Entry[] | 'failed' | null>(null)
  const load = async () => {
    const wanted = end.value
    const read = await readEntries(log, wanted).catch((error) => {
      if (isUnreadable(error)) return 'failed' as const
      throw error
    })
    if (end.value === wanted) entries.value = read
  }
  const turn = (to: number) => {
    end.value = Math.min(size, Math.max(to, Math.min(size, PAGE)))
  }
  useEffect(() => {
    if (shown !== null && (shown >= end.value || shown < end.value - PAGE)) turn(shown + 1)
  }, [shown])
  useEffect(() => void load(), [end.value])
  const { value } = entries
  const covered = log.anchor?.payload.n ?? 0
  return (
    <Card title={t.title}>
      {value === null && <Loading label={common.states.loading} />}
      {value === 'failed' && <ErrorState title={t.failed} text={texts.unreadableText} retry={() => void load()} />}
      {value !== null && value !== 'failed' && (
        <Table caption={t.caption} head={t.columns} rows={value.map((entry) => cells(entry, covered))} />
      )}
      {size > PAGE && (
        <nav class="row log-pages" aria-label={t.pages}>
          <Button onClick={() => turn(size)} disabled={end.value === size}>
            {t.newest}
          </Button>
          <Button onClick={() => turn(end.value + PAGE)} disabled={end.value === size}>
            {t.newer}
          </Button>
          <Button onClick={() => turn(end.value - PAGE)} disabled={end.value <= PAGE}>
            {t.older}
          </Button>
          <span class="log-quiet">{t.range(end.value - 1, Math.max(0, end.value - PAGE), size)}</span>
        </nav>
      )}
    </Card>
  )
}

const SHORT = 12

/** `covered` is the number of entries that are on chain with the log. */
function cells(entry: Entry, covered: number) {
  const { index, statement_digest, envelope, anchor, isProven, isStatement } = entry
  const body = isStatement ? envelope?.body : undefined
  const isGood = isProven && isStatement !== false
  return [
    <a key="index" href={`#${index}`} aria-label={t.open(index)}>
      {common.number(index)}
    </a>,
    <Status key="proven" tone={isGood ? 'good' : 'bad'}>
      {isGood ? t.proven : t.unproven}
    </Status>,
    <code key="digest" title={statement_digest}>
      {statement_digest.slice(0, SHORT)}…
    </code>,
    body ? <code key="proof">{body.proof_id.slice(0, SHORT)}…</code> : t.lost,
    body ? common.number(body.sequence) : '',
    body ? texts.time(body.issued_at_unix) : '',
    anchor ? (anchor.slot === null ? t.onChain : t.slot(anchor.slot)) : index < covered ? t.withLog : t.notYet,
  ]
}
