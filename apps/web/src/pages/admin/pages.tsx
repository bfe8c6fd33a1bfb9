// Paginated lists.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { texts as t } from '#texts/admin'
import { Button } from '../../ui/button.tsx'
import { useLive } from './live.ts'
import { query, Shown } from './parts.tsx'

const PAGE = 50

interface PagesProps<Page> {
  path: string
  params?: Readonly<Record<string, string | number>>
  everyMs?: number
  isEmpty: (page: Page) => boolean
  /** Shown for an empty list. */
  empty: ComponentChildren
  children: (page: Page) => ComponentChildren
}

/** A paginated list. Pass a `key` that names the list, so that another list begins at its first page. */
export function Pages<Page extends { next_cursor?: string }>(props: PagesProps<Page>) {
  const { path, params, everyMs, isEmpty, empty, children } = props
  const cursor = useSignal('')
  const live = useLive<Page>(query(path, { ...params, cursor: cursor.value, limit: PAGE }), undefined, everyMs)
  return (
    <Shown live={live}>
      {(page) =>
        isEmpty(page) && !cursor.value ? (
          empty
        ) : (
          <>
            {children(page)}
            <Pager
              cursor={cursor.value}
              next={page.next_cursor}
              onCursor={(next) => {
                cursor.value = next
              }}
            />
          </>
        )
      }
    </Shown>
  )
}

interface PagerProps {
  /** The cursor of the current page; empty for the first. */
  cursor: string
  next: string | undefined
  onCursor: (cursor: string) => void
}

export function Pager({ cursor, next, onCursor }: PagerProps) {
  if (!cursor && !next) return null
  return (
    <nav class="row pager" aria-label={t.pages.label}>
      <Button onClick={() => onCursor('')} disabled={!cursor}>
        {t.pages.first}
      </Button>
      <Button onClick={() => onCursor(next ?? '')} disabled={!next}>
        {t.pages.next}
      </Button>
    </nav>
  )
}
