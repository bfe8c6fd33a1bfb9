import { isoSeconds } from '@svc/protocol/evidence'
import { explorerUrl } from '@svc/sdk/explorer'
import { type ComponentChildren, Fragment } from 'preact'
import { texts } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { saveFile } from '../../ui/save-file.ts'
import type { Checking, Opened } from './checking.ts'
import { Name, shownValue } from './shown.tsx'
import type { CheckedBundle } from './worker/messages.ts'

const t = texts.summary

export function Summary({ checking, opened, bundle }: { checking: Checking; opened: Opened; bundle: CheckedBundle }) {
  const { envelope, redacted, unchecked, key, counted } = bundle
  const rows: [string, ComponentChildren][] = [
    [t.from, <Name key="from" text={fromText(opened)} />],
    [t.receipt, redacted ? t.noReceipt : <Name key="receipt" text={bundle.receiptId ?? t.none} />],
    [t.statement, envelope ? t.statementText(envelope.body.sequence, envelope.body.proof_id) : t.noStatement],
    ...(envelope ? [[t.issued, t.issuedText(envelope.body.issued_at)] as [string, string]] : []),
    [t.files, filesText(bundle)],
    ...(counted.merkleRoot === null
      ? []
      : [[t.root, <Copyable key="root" text={counted.merkleRoot} what={t.root} />] as [string, ComponentChildren]]),
    [
      t.key,
      key ? (
        <span key="key">
          <Copyable text={key.public_key_hex} what={t.key} /> ({key.pinned ? t.pinned : t.notPinned})
        </span>
      ) : (
        t.unknownKey
      ),
    ],
    ...logRows(bundle),
    [t.transaction, <Transaction key="tx" anchor={bundle.anchor} />],
  ]
  return (
    <Card
      title={t.title}
      aside={
        <span class="row no-print">
          {opened.source.kind !== 'file' && (
            <Button kind="quiet" onClick={() => saveFile('evidence-bundle.json', opened.bundle)}>
              {texts.open.save}
            </Button>
          )}
          <Button kind="quiet" onClick={() => print()}>
            {texts.open.print}
          </Button>
          <Button kind="quiet" onClick={checking.close}>
            {texts.open.another}
          </Button>
        </span>
      }
    >
      <div class="stack">
        <p class="print-only">{t.printed(new Date().toISOString().slice(0, 19))}</p>
        <dl class="summary-list">
          {rows.map(([label, value]) => (
            <Fragment key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </Fragment>
          ))}
        </dl>
        {redacted && redacted.leftOut.length > 0 && (
          <div>
            <b>{t.leftOut}</b>
            <ul class="plain-list">
              {redacted.leftOut.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </div>
        )}
        {unchecked.length > 0 && (
          <p class="part-note">
            {t.unchecked} <bdi>{unchecked.join(', ')}</bdi>. {t.uncheckedText}
          </p>
        )}
      </div>
    </Card>
  )
}

function fromText({ source }: Opened): string {
  if (source.kind === 'file') return source.file.name
  return source.kind === 'address' ? source.url : t.ofGateway
}

function filesText({ counted, redacted }: CheckedBundle): string {
  if (redacted?.redaction === 'no_names') return t.withoutNames(counted.files)
  if (redacted) return t.shownOf(redacted.shown, redacted.total)
  return t.filesText(counted.files, counted.totalBytes)
}

/** The rows of the log. Only witnesses with valid signatures are named. */
function logRows({ log }: CheckedBundle): [string, ComponentChildren][] {
  if (!log) return []
  const { origin, index, size, cosigned } = log
  const place: [string, ComponentChildren] = [
    t.log,
    <Name key="log" text={t.logText(t.entryText(index, size), origin)} />,
  ]
  if (cosigned.length === 0) return [place]
  const witnesses = cosigned.map(({ name, time }) => (
    <li key={name}>
      <Name text={t.cosignedText(name, isoSeconds(time))} />
    </li>
  ))
  return [place, [t.cosigned, <ul key="cosigned">{witnesses}</ul>]]
}

function Transaction({ anchor }: { anchor: CheckedBundle['anchor'] }) {
  const tx = shownValue(anchor?.tx)
  if (tx === null) return <>{t.none}</>
  const url = explorerUrl({ network: String(anchor?.chain), tx, service: location.href })
  return (
    <>
      <Copyable text={tx} what={t.transaction} />
      {url && (
        <a href={url} rel="noreferrer" target="_blank">
          {t.explorer}
        </a>
      )}
    </>
  )
}
