import { explorerUrl } from '@svc/sdk/explorer'
import { printable } from '@svc/verifier/untrusted'
import { type ComponentChildren, Fragment } from 'preact'
import { texts } from '#texts/log'
import { Copyable } from '../../ui/copy.tsx'

const t = texts.vouching
const MAX_TRANSACTION = 120

export function FactList({ rows }: { rows: readonly (readonly [label: string, value: ComponentChildren])[] }) {
  return (
    <dl class="log-facts">
      {rows.map(([label, value]) => (
        <Fragment key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}

/** A transaction, with a link to an explorer on public chains. */
export function Transaction({ network, tx }: { network: string; tx: string }) {
  const url = explorerUrl({ network, tx, service: location.href })
  return (
    <span class="log-transaction">
      <Copyable text={printable(tx, MAX_TRANSACTION)} what={t.transaction} />
      {url && (
        <a href={url} rel="noreferrer" target="_blank">
          {t.explorer}
        </a>
      )}
    </span>
  )
}
