import { printable } from '@svc/verifier/untrusted'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '#texts/log'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Code, JsonText } from '../../ui/code.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Empty, ErrorState, Loading } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import type { Entry } from './entries.ts'
import type { LogView, ReadyLog } from './log-view.ts'
import { FactList, Transaction } from './parts.tsx'

const t = texts.entry

/** The search result. The search field itself shows problems with the text. */
export function Found({ view, ready }: { view: LogView; ready: ReadyLog }) {
  const { value } = view.searchResult
  if (value?.state === 'looking') return <Loading label={texts.search.looking} />
  if (value?.state === 'not_found') return <Empty title={texts.search.notFound} text={texts.search.notFoundText} />
  if (value?.state === 'failed')
    return <ErrorState title={texts.unreadable} text={texts.unreadableText} retry={() => void view.again()} />
  return value?.state === 'found' ? <EntryCard entry={value.entry} ready={ready} /> : null
}

function EntryCard({ entry, ready: { log } }: { entry: Entry; ready: ReadyLog }) {
  const { index, statement_digest, isProven, isStatement } = entry
  const element = useRef<HTMLDivElement>(null)
  // Move the focus to the result.
  useEffect(() => element.current?.focus(), [index, statement_digest])
  return (
    <div ref={element} tabIndex={-1} class="log-entry">
      <Card
        title={t.title(index)}
        aside={
          <span class="row">
            <Status tone={isProven ? 'good' : 'bad'}>{isProven ? t.proven : t.unproven}</Status>
            <Button kind="quiet" label={t.closeLabel} onClick={close}>
              {t.close}
            </Button>
          </span>
        }
      >
        <div class="stack">
          <p role={isProven ? undefined : 'alert'} class={isProven ? '' : 'note note-bad'}>
            {isProven ? t.provenText(log.head?.size ?? 0) : t.unprovenText}
          </p>
          {isStatement === null && <p class="note note-warn">{t.lost}</p>}
          {isStatement === false && <p class="note note-bad">{t.other}</p>}
          <FactList
            rows={[
              [t.digest, <Copyable key="digest" text={statement_digest} what={t.digest} />],
              ...(isStatement ? statementRows(entry) : []),
              [t.anchor, <Anchor key="anchor" entry={entry} covered={log.anchor?.payload.n ?? 0} />],
            ]}
          />
          {isStatement && <Statement entry={entry} />}
          <a href={urlOf(`/v1/log/proof?statement_digest=${statement_digest}`)}>{t.proofText}</a>
        </div>
      </Card>
    </div>
  )
}

function close() {
  location.hash = ''
}

function statementRows({ envelope }: Entry) {
  if (!envelope) return []
  const { proof_id, sequence, issued_at_unix, file_count, total_bytes, merkle_root } = envelope.body
  return [
    [t.proof, <Copyable key="proof" text={proof_id} what={t.proof} />],
    [t.sequence, t.sequenceText(sequence)],
    [t.signed, texts.time(issued_at_unix)],
    [t.files, t.filesText(file_count, Number(total_bytes))],
    [t.root, <Copyable key="root" text={merkle_root} what={t.root} />],
  ] as const
}

/** The anchor of a statement: its own, or the anchor of the log. */
function Anchor({ entry: { anchor, index }, covered }: { entry: Entry; covered: number }) {
  if (!anchor) return <>{index < covered ? t.byLog : t.notPublished}</>
  return (
    <>
      <Transaction network={anchor.network} tx={anchor.tx} />
      <small>{t.network(printable(anchor.network, 80), anchor.slot)}</small>
    </>
  )
}

function Statement({ entry }: { entry: Entry }) {
  const text = JSON.stringify(entry.envelope, null, 2)
  return (
    <details>
      <summary>{t.statement}</summary>
      <Code title="JSON" label={t.statementLabel} text={text}>
        <JsonText text={text} />
      </Code>
    </details>
  )
}
