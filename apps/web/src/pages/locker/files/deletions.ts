// Deletions wait for some seconds, in which they can be undone. They are sent when the time is over, when another
// deletion begins, and when the page is hidden or left: somebody who deletes and closes the page means it.

import { type Signal, signal } from '@preact/signals'
import { listFiles } from '@svc/api/files'
import type { Client, Locker } from '@svc/sdk'

const UNDO_MS = 8_000
const AT_ONCE = 4

interface PendingDeletion {
  /** Files, and folders with a slash at the end. */
  names: readonly string[]
  /** When it is sent. */
  at: number
}

export interface Deletions {
  readonly pending: Signal<PendingDeletion | null>
  /** Names that the list leaves out: about to be deleted, or being deleted. */
  readonly hidden: Signal<ReadonlySet<string>>
  readonly failed: Signal<{ names: readonly string[]; error: unknown } | null>
  remove(names: readonly string[]): void
  undo(): void
  /** Sends what waits now. */
  flush(): Promise<void>
  /** Flushes when the page is hidden or left. */
  watchPage(): () => void
}

export function createDeletions(client: Client, locker: Locker, onDeleted: () => void): Deletions {
  const pending = signal<PendingDeletion | null>(null)
  const hidden = signal<ReadonlySet<string>>(new Set())
  const failed = signal<{ names: readonly string[]; error: unknown } | null>(null)
  let timer: ReturnType<typeof setTimeout> | undefined

  const show = (names: readonly string[]) => {
    hidden.value = new Set([...hidden.value].filter((name) => !names.includes(name)))
  }

  async function flush(): Promise<void> {
    const { names } = pending.value ?? {}
    if (!names) return
    clearTimeout(timer)
    pending.value = null
    const refused: string[] = []
    let reason: unknown = null
    const attempt = async (name: string) => {
      try {
        await removeEntry(client, locker, name)
      } catch (error) {
        refused.push(name)
        reason = error
      }
    }
    const queue = [...names]
    const work = async () => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) await attempt(name)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    if (refused.length > 0) failed.value = { names: refused, error: reason }
    onDeleted()
    show(names)
  }

  return {
    pending,
    hidden,
    failed,
    remove(names) {
      void flush()
      failed.value = null
      pending.value = { names, at: Date.now() + UNDO_MS }
      hidden.value = new Set([...hidden.value, ...names])
      timer = setTimeout(() => void flush(), UNDO_MS)
    },
    undo() {
      const { names = [] } = pending.value ?? {}
      clearTimeout(timer)
      pending.value = null
      show(names)
    },
    flush,
    watchPage() {
      const leave = () => void (document.hidden && flush())
      const ask = (event: BeforeUnloadEvent) => {
        if (!pending.value) return
        // The question gives the requests the time to go out.
        event.preventDefault()
        void flush()
      }
      document.addEventListener('visibilitychange', leave)
      addEventListener('beforeunload', ask)
      return () => {
        document.removeEventListener('visibilitychange', leave)
        removeEventListener('beforeunload', ask)
        void flush()
      }
    },
  }
}

/** Of a folder, all that is in it when it is sent. */
async function removeEntry(client: Client, locker: Locker, name: string): Promise<void> {
  if (!name.endsWith('/')) return void (await client.remove(locker, name))
  const params = { locker_id: locker.locker_id }
  for (;;) {
    const { body } = await client.call(listFiles, { params, query: { prefix: name, limit: 500 } })
    const inside = body.files.filter(({ filename }) => filename.startsWith(name))
    if (inside.length === 0) return
    for (const { filename } of inside) await client.remove(locker, filename)
  }
}
