// The newest checkpoint, and who vouches for it.

import { toHex } from '@svc/protocol/bytes'
import type { SignedCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { printable } from '@svc/verifier/untrusted'
import { common } from '#texts/common'
import { texts } from '#texts/log'
import { urlOf } from '../../address.ts'
import { Card } from '../../ui/card.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icons.tsx'
import type { CheckedAnchor, ReadLog, Vouching } from './log-reader.ts'
import { FactList, Transaction } from './parts.tsx'

const MAX_NAME = 120

export function HeadCard({ log: { state }, head }: { log: ReadLog; head: SignedCheckpoint }) {
  const t = texts.head
  // The state may belong to the next or the previous checkpoint.
  const signedAt = state.size === head.size && state.checkpoint_at !== null ? state.checkpoint_at : null
  return (
    <Card title={t.title}>
      <p class="log-size">
        <b>{common.number(head.size)}</b> {t.size(head.size)}
      </p>
      <FactList
        rows={[
          [t.root, <Copyable key="root" text={toHex(head.root)} what={t.root} />],
          [t.signed, signedAt === null ? t.signedBy : `${texts.time(Date.parse(signedAt) / 1000)}, ${t.signedBy}`],
          [t.name, <bdi key="name">{printable(head.origin, MAX_NAME)}</bdi>],
          [
            t.key,
            <span key="key">
              <Copyable text={state.vkey} what={t.key} />
              <small>{t.keyHint}</small>
            </span>,
          ],
          [
            t.files,
            <ul key="files" class="links">
              <li>
                <a href={urlOf('/log/checkpoint')}>{t.checkpoint}</a>
              </li>
              <li>
                <a href={urlOf('/v1/log')}>{t.state}</a>
              </li>
            </ul>,
          ],
        ]}
      />
    </Card>
  )
}

export function VouchingCard({ witnesses, anchor }: Pick<ReadLog, 'witnesses' | 'anchor'>) {
  const t = texts.vouching
  return (
    <Card title={t.title}>
      <div class="stack">
        <h3>{t.witnesses}</h3>
        {witnesses.length === 0 ? (
          <p class="log-quiet">{t.none}</p>
        ) : (
          <>
            <ul class="log-witnesses">
              {witnesses.map((witness) => (
                <Witness key={witness.name} witness={witness} />
              ))}
            </ul>
            <p class="log-quiet">
              {t.own} <a href={urlOf('/verify')}>{t.verify}</a>.
            </p>
          </>
        )}
        <h3>{t.anchor}</h3>
        {anchor ? <Anchored anchor={anchor} /> : <p class="log-quiet">{t.noAnchor}</p>}
      </div>
    </Card>
  )
}

function Witness({ witness: { name, at } }: { witness: Vouching }) {
  const t = texts.vouching
  return (
    <li class={at === null ? 'log-away' : 'log-vouches'}>
      <Icon name={at === null ? 'minus' : 'check'} />
      <span>
        <b>
          <bdi>{printable(name, MAX_NAME)}</bdi>
        </b>{' '}
        {at === null ? t.notYet : t.cosigned(at)}
      </span>
    </li>
  )
}

const SIGNS = { fits: 'check', misfit: 'warning', unknownFit: 'minus' } as const

function Anchored({ anchor }: { anchor: CheckedAnchor }) {
  const t = texts.vouching
  const { payload, chain, tx, slot, block_time, finalized, fits } = anchor
  const standing = fits === null ? 'unknownFit' : fits ? 'fits' : 'misfit'
  const where = [
    ...(slot === null ? [] : [t.slot(slot)]),
    ...(block_time === null ? [] : [texts.time(block_time)]),
    ...(finalized ? [] : [t.notFinal]),
  ]
  return (
    <>
      <p>{t.anchored(payload.n)}</p>
      <p class={`log-${standing}`} role={fits === false ? 'alert' : undefined}>
        <Icon name={SIGNS[standing]} />
        {t[standing]}
      </p>
      <Transaction network={chain} tx={tx} />
      {where.length > 0 && <p class="log-quiet">{where.join(' · ')}</p>}
    </>
  )
}
