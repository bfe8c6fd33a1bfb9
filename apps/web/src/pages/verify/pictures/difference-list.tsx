import { useSignal } from '@preact/signals'
import { printable } from '@svc/verifier/untrusted'
import { useEffect, useRef } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/verify-pictures'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { Status, type Tone } from '../../../ui/status.tsx'
import { Table } from '../../../ui/table.tsx'
import type { CheckWorker } from '../worker/start.ts'
import type { Comparison } from './compare-bundles.ts'
import { CHANGES, type Change, type DifferenceRow } from './differences.ts'

const t = texts.differences
const PAGE = 100
/** A search reads every row, so it waits for a pause in typing. */
const TYPING_MS = 200

const TONES: Record<Change, Tone> = {
  added: 'good',
  changed: 'warn',
  removed: 'bad',
  renamed: 'info',
  unchanged: 'neutral',
}

interface ListProps {
  worker: CheckWorker
  compared: Extract<Comparison, { refused: null }>
}

export function DifferenceList({ worker, compared }: ListProps) {
  const { counts } = compared
  const changes = useSignal<readonly Change[]>(CHANGES.filter((change) => change !== 'unchanged'))
  const text = useSignal('')
  const found = useSignal<{ rows: DifferenceRow[]; matching: number } | null>(null)
  const asked = useRef(0)

  const ask = async (from: number) => {
    const mine = ++asked.current
    const query = { changes: changes.value, text: text.value.trim(), from, limit: PAGE }
    const page = await worker.call('differences', query)
    if (asked.current !== mine) return
    found.value = {
      rows: from === 0 ? page.rows : [...(found.value?.rows ?? []), ...page.rows],
      matching: page.matching,
    }
  }
  useEffect(() => {
    const timer = setTimeout(() => void ask(0), text.value === '' ? 0 : TYPING_MS)
    return () => clearTimeout(timer)
  }, [compared, changes.value, text.value])

  const isSame = CHANGES.every((change) => change === 'unchanged' || counts[change] === 0)
  return (
    <div class="difference-list">
      {isSame && <p>{t.same}</p>}
      <fieldset class="difference-kinds">
        <legend class="quiet-text">{t.show}</legend>
        {CHANGES.map((change) => (
          <label key={change} class="difference-kind">
            <input
              type="checkbox"
              checked={changes.value.includes(change)}
              onChange={(event) => {
                const others = changes.value.filter((other) => other !== change)
                changes.value = event.currentTarget.checked ? [...others, change] : others
              }}
            />
            <b>{common.number(counts[change])}</b> {t.changes[change]}
          </label>
        ))}
      </fieldset>
      <Field label={t.search}>
        {(control) => (
          <input
            {...control}
            type="search"
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value
            }}
          />
        )}
      </Field>
      {found.value && <Rows {...found.value} more={() => void ask(found.value?.rows.length ?? 0)} />}
    </div>
  )
}

function Rows({ rows, matching, more }: { rows: DifferenceRow[]; matching: number; more(): void }) {
  if (rows.length === 0) return <p class="difference-none">{t.noRows}</p>
  return (
    <>
      <Table caption={t.caption} head={t.head} rows={rows.map(cellsOf)} />
      <div class="row">
        {rows.length < matching && <Button onClick={more}>{t.more}</Button>}
        <span role="status">{t.shown(rows.length, matching)}</span>
      </div>
    </>
  )
}

function cellsOf({ change, before, after }: DifferenceRow) {
  const file = after ?? before
  const hashes = [before, after].flatMap((one) => (one ? [one.content_hash] : []))
  const sizes = [before, after].flatMap((one) => (one ? [one.size_bytes] : []))
  return [
    <Status tone={TONES[change]} key="change">
      {t.changes[change]}
    </Status>,
    <span class="difference-name" key="name">
      <bdi>{shownName(file?.filename)}</bdi>
      {change === 'renamed' && <small>{t.from(shownName(before?.filename))}</small>}
    </span>,
    <span class="difference-size" key="size">
      {[...new Set(sizes)].map(common.bytes).join(' → ')}
    </span>,
    <span class="difference-hashes" key="hash">
      {[...new Set(hashes)].map((hash) => (
        <code key={hash} title={hash}>
          {hash.slice(0, 12)}…
        </code>
      ))}
    </span>,
  ]
}

const MAX_NAME = 600

function shownName(filename = ''): string {
  return printable(filename, MAX_NAME)
}
