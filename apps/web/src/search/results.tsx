// The search results by kind.

import type { PublishedAnchor } from '@svc/api/evidence'
import type { ComponentChildren } from 'preact'
import { common } from '#texts/common'
import { texts as t } from '#texts/search'
import { urlOf } from '../address.ts'
import { Copyable } from '../ui/copy.tsx'
import { networkTitle } from '../ui/names.ts'
import { Table } from '../ui/table.tsx'
import type { Kind, Recognized } from './recognize.ts'

interface PlaceProps {
  value: string
  anchor: PublishedAnchor | null
}

const PLACES: Record<Kind, (props: PlaceProps) => ComponentChildren> = {
  receipt: ReceiptPlace,
  locker: ({ value }) => (
    <>
      <p>{t.locker.text}</p>
      <Links links={[[t.locker.open, `/locker/${value}`]]} />
    </>
  ),
  payment: ({ value }) => (
    <>
      <p>{t.payment.text}</p>
      <Links links={[[t.payment.confirm, `/docs#confirmStorage?pay_req_id=${value}`]]} />
    </>
  ),
  evmTransaction: ({ value }) => (
    <>
      <p>{t.evmTransaction.text}</p>
      <Links links={[[t.evmTransaction.confirm, `/docs#confirmStorage?tx_sig=${value}`]]} />
    </>
  ),
  transaction: ({ anchor }) =>
    anchor ? <AnchorPlace anchor={anchor} /> : <NoAnchor text={t.anchor.noneTransaction} />,
  digest: ({ value, anchor }) =>
    anchor ? (
      <AnchorPlace anchor={anchor} />
    ) : (
      <>
        <NoAnchor text={t.anchor.noneDigest} />
        <Links links={[[t.anchor.lookInLog, `/log#${value}`]]} />
      </>
    ),
}

export function Place({
  recognized: { kind, value },
  anchor,
}: {
  recognized: Recognized
  anchor: PublishedAnchor | null
}) {
  const Draw = PLACES[kind]
  return (
    <div class="stack">
      <h3>{t.recognized(t.kinds[kind])}</h3>
      <Copyable text={value} what={t.kinds[kind]} />
      <Draw value={value} anchor={anchor} />
    </div>
  )
}

function ReceiptPlace({ value }: PlaceProps) {
  return (
    <>
      <p>{t.receipt.text}</p>
      <Links
        links={[
          [t.receipt.facts, `/verify/${value}`],
          [t.receipt.receipt, `/v1/receipts/${value}`],
          [t.receipt.bundle, `/v1/storage/evidence-bundle?receipt_id=${value}`],
        ]}
      />
    </>
  )
}

function Links({ links }: { links: readonly (readonly [text: string, path: string])[] }) {
  return (
    <ul class="links">
      {links.map(([text, path]) => (
        <li key={path}>
          <a href={urlOf(path)}>{text}</a>
        </li>
      ))}
    </ul>
  )
}

function NoAnchor({ text }: { text: string }) {
  return (
    <p>
      {t.anchor.none} {text}
    </p>
  )
}

function AnchorPlace({ anchor }: { anchor: PublishedAnchor }) {
  const a = t.anchor
  const rows = [
    [a.transaction, <Copyable key="tx" text={anchor.tx} what={a.transaction} />],
    [a.network, networkTitle(anchor.network)],
    [a.slot, anchor.slot === null ? '' : common.number(anchor.slot)],
    [a.time, anchor.block_time ?? ''],
    [a.final, anchor.finalized ? a.isFinal : a.notFinal],
    [a.sequence, common.number(anchor.sequence)],
    [a.files, common.number(anchor.file_count)],
    [a.digest, <Copyable key="digest" text={anchor.statement_digest} what={a.digest} />],
    [a.root, <Copyable key="root" text={anchor.merkle_root} what={a.root} />],
  ] as const
  return (
    <>
      <p>{a.found}</p>
      <Table caption={a.caption} head={['', '']} rows={rows} />
      <Links links={[[a.inLog, `/log#${anchor.statement_digest}`]]} />
    </>
  )
}
