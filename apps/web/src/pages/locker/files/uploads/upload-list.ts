// The uploads of a page by name and state, with totals.

import { type Signal, signal } from '@preact/signals'
import type { Source } from '@svc/sdk'

type UploadState = 'waiting' | 'checking' | 'sending' | 'paused' | 'done' | 'failed'

export interface Upload {
  readonly filename: string
  readonly file: File
  readonly handle: FileSystemFileHandle | null
  /** Encrypts the file under its name; null uploads it unchanged. */
  readonly encrypt: Encrypt | null
  /** Whether it may replace a file with its name. */
  readonly mayReplace: boolean
  state: UploadState
  /** The bytes that are done in the current state. */
  doneBytes: number
  /** Bytes that the gateway already had. */
  resumedBytes: number
  error: unknown
}

export type Encrypt = (file: File, filename: string, signal: AbortSignal) => Promise<Source>

/** A file to upload. */
export type NewUpload = Pick<Upload, 'filename' | 'file' | 'handle' | 'encrypt' | 'mayReplace'>

interface Totals {
  files: number
  doneFiles: number
  failedFiles: number
  bytes: number
  doneBytes: number
  isActive: boolean
  isPaused: boolean
}

type Change = Partial<Pick<Upload, 'state' | 'doneBytes' | 'resumedBytes' | 'error'>>

export interface UploadList {
  /** Changes with every step, at most a few times per second. */
  readonly version: Signal<number>
  changed(): void
  /** The upload with this name. */
  named(filename: string): Upload | undefined
  all(): Upload[]
  in(state: UploadState): ReadonlySet<Upload>
  add(upload: Upload): void
  remove(upload: Upload): void
  /** Changes an upload; ignores a removed one. */
  set(upload: Upload, change: Change): void
  /** Whether any upload waits or runs. */
  isActive(): boolean
  totals(): Totals
  /** The first uploads in the order of `STATES`. */
  first(count: number): Upload[]
}

const DRAW_MS = 40
/** The order in which uploads are shown. */
const STATES: readonly UploadState[] = ['failed', 'sending', 'checking', 'paused', 'waiting', 'done']

/** A list of possibly hundreds of thousands of uploads: only `all` iterates over them. */
export function createUploadList(): UploadList {
  const byName = new Map<string, Upload>()
  const byState = Object.fromEntries(STATES.map((state) => [state, new Set()])) as Record<UploadState, Set<Upload>>
  let bytes = 0
  let doneBytes = 0
  const version = signal(0)
  let isDrawing = false

  function changed(): void {
    if (isDrawing) return
    isDrawing = true
    setTimeout(() => {
      isDrawing = false
      version.value++
    }, DRAW_MS)
  }

  const sentBytes = (upload: Upload) => (upload.state === 'checking' ? 0 : upload.doneBytes)
  const isActive = () => byState.waiting.size + byState.checking.size + byState.sending.size > 0

  return {
    version,
    changed,
    named: (filename) => byName.get(filename),
    all: () => [...byName.values()],
    in: (state) => byState[state],
    add(upload) {
      byName.set(upload.filename, upload)
      byState[upload.state].add(upload)
      bytes += upload.file.size
      doneBytes += sentBytes(upload)
      changed()
    },
    remove(upload) {
      byName.delete(upload.filename)
      byState[upload.state].delete(upload)
      bytes -= upload.file.size
      doneBytes -= sentBytes(upload)
      changed()
    },
    set(upload, change) {
      if (byName.get(upload.filename) !== upload) return
      const { state } = upload
      doneBytes -= sentBytes(upload)
      Object.assign(upload, change)
      doneBytes += sentBytes(upload)
      if (upload.state !== state) {
        byState[state].delete(upload)
        byState[upload.state].add(upload)
      }
      changed()
    },
    isActive,
    totals: () => ({
      files: byName.size,
      doneFiles: byState.done.size,
      failedFiles: byState.failed.size,
      bytes,
      doneBytes,
      isActive: isActive(),
      isPaused: !isActive() && byState.paused.size > 0,
    }),
    first(count) {
      const shown: Upload[] = []
      for (const state of STATES)
        for (const upload of byState[state]) {
          if (shown.length === count) return shown
          shown.push(upload)
        }
      return shown
    },
  }
}
