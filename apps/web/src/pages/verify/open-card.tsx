// The input for a bundle: dropped, picked, or by receipt id or address.

import { useSignal } from '@preact/signals'
import { texts } from '#texts/verify'
import { recognize } from '../../search/recognize.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Field } from '../../ui/field.tsx'
import { Icon } from '../../ui/icons.tsx'
import { webAddress } from './addresses.ts'
import type { Checking, Source } from './checking.ts'
import { DropZone } from './drop-zone.tsx'

const t = texts.open

/** `site` is the gateway that serves the page; null in a saved copy. */
export function OpenCard({ checking, site }: { checking: Checking; site: Site | null }) {
  const text = useSignal('')
  const problem = useSignal<string | null>(null)
  const take = (file: File | undefined) => {
    if (file) void checking.open({ kind: 'file', file })
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const source = sourceOf(text.value, site)
    problem.value = source ? null : t.invalid
    if (source) void checking.open(source, true)
  }
  return (
    <Card title={t.title}>
      <div class="stack">
        <DropZone label={t.drop} onDrop={({ files }) => take(files[0])}>
          <span>{t.drop}</span>
          <label class="button button-primary file-button">
            <Icon name="file" />
            {t.choose}
            <input
              class="quiet-text"
              type="file"
              accept=".json,application/json"
              onChange={(event) => take(event.currentTarget.files?.[0])}
            />
          </label>
          <span class="part-note">{t.stays}</span>
        </DropZone>
        {site && (
          <form class="open-address" onSubmit={submit}>
            <Field label={t.label} error={problem.value}>
              {(control) => (
                <input
                  {...control}
                  autocomplete="off"
                  spellcheck={false}
                  placeholder={t.placeholder}
                  value={text.value}
                  onInput={(event) => {
                    text.value = event.currentTarget.value
                  }}
                />
              )}
            </Field>
            <Button type="submit" disabled={text.value.trim() === ''}>
              {t.submit}
            </Button>
          </form>
        )}
      </div>
    </Card>
  )
}

/** Asks before a bundle on another host, which a link named, is fetched. */
export function ForeignCard({
  checking,
  source,
}: {
  checking: Checking
  source: Extract<Source, { kind: 'address' }>
}) {
  const { host } = new URL(source.url)
  return (
    <Card title={t.foreign}>
      <div class="stack">
        <p>{t.foreignText(host)}</p>
        <code>{source.url}</code>
        <div class="row">
          <Button kind="primary" onClick={() => void checking.open(source, true)}>
            {t.agree(host)}
          </Button>
          <Button onClick={checking.close}>{t.another}</Button>
        </div>
      </div>
    </Card>
  )
}

/** The facts about the gateway that serves the page. */
export interface Site {
  /** The URL of a path of the gateway. */
  urlOf(path: string): string
}

/** Parses a receipt id or an address; null for other text. */
export function sourceOf(text: string, site: Site | null): Source | null {
  const url = webAddress(text)
  const ownRoot = site?.urlOf('/')
  const isOwn = ownRoot !== undefined && text.trim().startsWith(ownRoot)
  if (url || isOwn) {
    const href = url?.href ?? text.trim()
    return { kind: 'address', url: href, isForeign: ownRoot === undefined || !href.startsWith(ownRoot) }
  }
  const found = recognize(text)
  return site && found?.kind === 'receipt' ? receiptSource(found.value, site) : null
}

export function receiptSource(receiptId: string, { urlOf }: Site): Source {
  const id = encodeURIComponent(receiptId)
  return {
    kind: 'receipt',
    receiptId,
    url: urlOf(`/v1/storage/evidence-bundle?receipt_id=${id}`),
    receiptUrl: urlOf(`/v1/receipts/${id}`),
  }
}
