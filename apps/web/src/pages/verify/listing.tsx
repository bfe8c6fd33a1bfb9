// The files of the bundle, in pages, and the tree of the chosen file.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/verify'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Table } from '../../ui/table.tsx'
import type { Checking } from './checking.ts'
import type { ShownProof } from './pictures/merkle-path.ts'
import { MerkleTree } from './pictures/merkle-tree.tsx'
import { Name } from './shown.tsx'
import type { FilePage } from './worker/messages.ts'

const t = texts.listing

const PAGE_ROWS = 20
/** A search goes through all names, so it waits for a pause in typing. */
const PAUSE_MS = 200

export function Listing({ checking, hasNames }: { checking: Checking; hasNames: boolean }) {
  const search = useSignal('')
  const offset = useSignal(0)
  const page = useSignal<FilePage | null>(null)
  const proof = useSignal<{ shown: ShownProof | null } | null>(null)
  const result = checking.result.value

  useEffect(() => {
    let isOver = false
    const query = { offset: offset.value, limit: PAGE_ROWS, search: search.value }
    const timer = setTimeout(
      () =>
        void checking.worker.call('files', query).then((found) => {
          if (!isOver) page.value = found
        }),
      search.value ? PAUSE_MS : 0,
    )
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [result, offset.value, search.value])
  useEffect(() => {
    proof.value = null
  }, [result])

  const choose = async (index: number) => {
    proof.value = { shown: await checking.worker.call('path', index) }
  }
  const { total, rows } = page.value ?? { total: 0, rows: [] }
  return (
    <div class="stack">
      {hasNames && (
        <Field label={t.search}>
          {(control) => (
            <input
              {...control}
              type="search"
              autocomplete="off"
              spellcheck={false}
              value={search.value}
              onInput={(event) => {
                search.value = event.currentTarget.value
                offset.value = 0
              }}
            />
          )}
        </Field>
      )}
      <Table
        caption={t.caption}
        head={hasNames ? [t.name, t.size, t.hash, t.path] : [t.leaf, t.path]}
        numeric={hasNames ? [1] : []}
        rows={rows.map((row) => cells(row, (index) => void choose(index)))}
      />
      <div class="row">
        <Button disabled={offset.value === 0} onClick={() => move(-PAGE_ROWS)}>
          {t.back}
        </Button>
        <Button disabled={offset.value + PAGE_ROWS >= total} onClick={() => move(PAGE_ROWS)}>
          {t.next}
        </Button>
        <span class="part-note" role="status">
          {page.value && t.range(offset.value + 1, Math.min(total, offset.value + PAGE_ROWS), total)}
        </span>
      </div>
      <section class="stack listing-tree" aria-label={t.tree}>
        <h3>{t.tree}</h3>
        {proof.value === null ? (
          <p class="part-empty">{t.choose}</p>
        ) : proof.value.shown ? (
          <MerkleTree proof={proof.value.shown} />
        ) : (
          <p class="part-empty">{t.noPath}</p>
        )}
      </section>
    </div>
  )

  function move(rows: number): void {
    offset.value = Math.max(0, offset.value + rows)
  }
}

function cells({ index, file, leaf }: FilePage['rows'][number], choose: (index: number) => void) {
  const name = file?.filename ?? leaf ?? ''
  const show = (
    <button key="show" type="button" class="link-button" onClick={() => choose(index)}>
      {t.showPath}
      <span class="quiet-text">
        {' '}
        {t.ofFile} <Name text={name} />
      </span>
    </button>
  )
  if (!file) return [<code key="leaf">{leaf}</code>, show]
  return [
    <Name key="name" text={file.filename} />,
    <span key="size" class="whole-line">
      {common.bytes(file.size_bytes)}
    </span>,
    <code key="hash" class="whole-line" title={file.content_hash}>
      {`${file.content_hash.slice(0, 16)}…`}
    </code>,
    show,
  ]
}
