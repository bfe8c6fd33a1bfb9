// Deletions can be undone for some seconds. They are sent after that time, when another deletion begins, and when the
// page is hidden or left: a user who deletes and closes the page means it. They delete exactly the files at the time of
// the click: newer files under the same names stay (T-17).

import { type Signal, signal } from '@preact/signals'
import type { FileEntry } from '@svc/api/file-entries'
import { listFiles } from '@svc/api/files'
import type { Client, Locker } from '@svc/sdk'
import { isGatewayError } from '@svc/sdk/errors'
import type { Entry } from './sorting.ts'

const UNDO_MS = 8_000
const AT_ONCE = 4
const PAGE = 500

interface Deletion {
  /** Files, and folders with a slash at the end, as they were selected. */
  names: ReadonlySet<string>
  /** All their files at the time of the click. */
  files: Promise<readonly FileEntry[]>
  /** Names that were removed from the deletion. */
  released: Set<string>
  /** Requests in progress, by name. */
  sending: Map<string, Promise<void>>
  /** The time when it is sent. */
  at: number
}

export interface Deletions {
  readonly pending: Signal<Pick<Deletion, 'names' | 'at'> | null>
  /** Names that the list hides: deletion is pending or in progress. */
  readonly hidden: Signal<ReadonlySet<string>>
  readonly failed: Signal<{ files: number; error: unknown } | null>
  /** The number of files of the last deletion that stay because they changed after the click. */
  readonly skipped: Signal<number>
  remove(entries: readonly Entry[]): void
  undo(): void
  /** Sends pending deletions now. */
  flush(): Promise<void>
  /** Whether the deletion of this file, or of its folder, is pending. */
  isPending(filename: string): boolean
  /** Cancels the deletion of these names. Resolves when no request for them is in progress. */
  release(filenames: readonly string[]): Promise<void>
  /** Flushes when the page is hidden or left. */
  watchPage(): () => void
}

export function createDeletions(client: Client, locker: Locker, onDeleted: () => Promise<void>): Deletions {
  const pending = signal<Deletion | null>(null)
  const hidden = signal<ReadonlySet<string>>(new Set())
  const failed = signal<{ files: number; error: unknown } | null>(null)
  const skipped = signal(0)
  const running = new Set<Deletion>()
  let timer: ReturnType<typeof setTimeout> | undefined

  const ordered = () => [...(pending.value ? [pending.value] : []), ...running]

  function setPending(next: Deletion | null): void {
    pending.value = next
    hidden.value = new Set(ordered().flatMap(({ names }) => [...names]))
  }

  async function flush(): Promise<void> {
    const deletion = pending.value
    if (!deletion) return
    clearTimeout(timer)
    running.add(deletion)
    setPending(null)
    await send(deletion)
    await onDeleted()
    running.delete(deletion)
    setPending(pending.value)
  }

  async function send({ names, files, released, sending }: Deletion): Promise<void> {
    let refused = 0
    let reason: unknown = null
    let changed = 0
    const attempt = async ({ filename, content_hash, uploaded_at }: FileEntry) => {
      try {
        const expected = {
          ...(content_hash !== null && { expectedHash: content_hash }),
          expectedUploadedAt: uploaded_at,
        }
        await client.remove(locker, filename, expected)
      } catch (error) {
        if (isGatewayError(error, 'PRECONDITION_FAILED')) changed++
        // Someone else has already deleted the file.
        else if (!isGatewayError(error, 'FILE_NOT_FOUND')) {
          refused++
          reason = error
        }
      }
    }
    try {
      const queue = (await files).values()
      const work = async () => {
        for (const file of queue) {
          if (released.has(file.filename)) continue
          const request = attempt(file)
          sending.set(file.filename, request)
          await request
          sending.delete(file.filename)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    } catch (error) {
      refused = names.size
      reason = error
    }
    if (refused > 0) failed.value = { files: refused, error: reason }
    skipped.value = changed
  }

  return {
    pending,
    hidden,
    failed,
    skipped,
    remove(entries) {
      void flush()
      failed.value = null
      skipped.value = 0
      const files = filesOf(client, locker, entries)
      // The failure is reported when they are deleted.
      files.catch(() => {})
      const names = new Set(entries.map(({ name }) => name))
      setPending({ names, files, released: new Set(), sending: new Map(), at: Date.now() + UNDO_MS })
      timer = setTimeout(() => void flush(), UNDO_MS)
    },
    undo() {
      clearTimeout(timer)
      setPending(null)
    },
    flush,
    isPending: (filename) => ordered().some((deletion) => covers(deletion, filename)),
    async release(filenames) {
      for (const { released } of ordered()) for (const filename of filenames) released.add(filename)
      const { value } = pending
      if (value && filenames.some((filename) => value.names.has(filename))) {
        const stay = new Set(filenames)
        const names = new Set([...value.names].filter((name) => !stay.has(name)))
        if (names.size === 0) clearTimeout(timer)
        setPending(names.size === 0 ? null : { ...value, names })
      }
      await Promise.all([...running].flatMap(({ sending }) => filenames.map((filename) => sending.get(filename))))
    },
    watchPage() {
      const leave = () => void (document.hidden && flush())
      const ask = (event: BeforeUnloadEvent) => {
        if (!pending.value) return
        // The browser's question gives the requests time to be sent.
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

function covers({ names, released }: Deletion, filename: string): boolean {
  if (released.has(filename)) return false
  if (names.has(filename)) return true
  for (let end = filename.indexOf('/'); end !== -1; end = filename.indexOf('/', end + 1))
    if (names.has(filename.slice(0, end + 1))) return true
  return false
}

/** The files, and all current files of the folders. */
export async function filesOf(client: Client, locker: Locker, entries: readonly Entry[]): Promise<FileEntry[]> {
  const files: FileEntry[] = []
  for (const entry of entries) {
    if (entry.kind === 'file') files.push(entry.file)
    else for await (const file of filesIn(client, locker, entry.name)) files.push(file)
  }
  return files
}

async function* filesIn(client: Client, { locker_id }: Locker, folder: string): AsyncGenerator<FileEntry> {
  for (let cursor: string | undefined; ; ) {
    const query = { prefix: folder, limit: PAGE, ...(cursor !== undefined && { cursor }) }
    const { body } = await client.call(listFiles, { params: { locker_id }, query })
    yield* body.files.filter(({ filename }) => filename.startsWith(folder))
    if (body.next_cursor === undefined || body.files.length === 0) return
    cursor = body.next_cursor
  }
}
