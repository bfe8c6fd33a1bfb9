// Files on their way into a locker: small ones in batches, large ones in parts, each apart from the others.

import { type Signal, signal } from '@preact/signals'
import { withPrefix } from '@svc/protocol/bytes'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { sha256Stream } from '@svc/protocol/sha256'
import { type Client, contentTypeOf, type Locker, type NamedBytes, SMALL_FILE_BYTES, type Source } from '@svc/sdk'
import { InvalidFilename, isGatewayError } from '@svc/sdk/errors'
import { dropRecords, keepRecords } from './records.ts'

type UploadState = 'waiting' | 'checking' | 'sending' | 'paused' | 'done' | 'failed'

export interface Upload {
  readonly filename: string
  readonly file: File
  readonly handle: FileSystemFileHandle | null
  /** Encrypts the file under its name; null sends it as it is. */
  readonly encrypt: Encrypt | null
  state: UploadState
  /** Of what the state is about. */
  doneBytes: number
  /** Bytes that the gateway had from before. */
  keptBytes: number
  error: unknown
}

export type Encrypt = (file: File, filename: string, signal: AbortSignal) => Promise<Source>

/** What is to be uploaded. */
export type NewUpload = Pick<Upload, 'filename' | 'file' | 'handle' | 'encrypt'>

interface Totals {
  files: number
  doneFiles: number
  failedFiles: number
  bytes: number
  doneBytes: number
  isActive: boolean
  isPaused: boolean
}

export interface Uploads {
  /** Changes with every step, at most some times a second. */
  readonly version: Signal<number>
  totals(): Totals
  /** Some of them: what failed, what moves, and so on; what is done comes last. */
  first(count: number): Upload[]
  /** Whether a file of this name is on its way, paused and failed ones included. */
  isUploading(filename: string): boolean
  /** The same name again takes the place of the one before. */
  add(files: readonly NewUpload[]): void
  pauseAll(): void
  continueAll(): void
  pause(upload: Upload): void
  /** Sends a paused or failed one again; of a large one, what is not there yet. */
  proceed(upload: Upload): void
  cancel(upload: Upload): void
  cancelAll(): void
  /** Takes what is done off the list. */
  clear(): void
  /** Stops all of it for good and forgets files and keys. The records of what is unfinished stay. */
  end(): void
}

export interface UploadEvents {
  onStored(filename: string): void
  /** Nothing waits and nothing moves any more. */
  onSettled(): void
}

const BATCH_FILES = 100
const BATCH_BYTES = 32 * 1024 * 1024
/** So many files that do not fit, and the rest is not tried. */
const REFUSALS_IN_A_ROW = 10
/** Between two of these, the page can draw. */
const READ_AT_ONCE = 1024 * 1024
const DRAW_MS = 40
/** In which order they are shown. */
const STATES: readonly UploadState[] = ['failed', 'sending', 'checking', 'paused', 'waiting', 'done']

export function createUploads(client: () => Promise<Client>, locker: Locker, events: UploadEvents): Uploads {
  // There may be hundreds of thousands: nothing below walks through all of them for each step of one.
  const byName = new Map<string, Upload>()
  const byState = Object.fromEntries(STATES.map((state) => [state, new Set()])) as Record<UploadState, Set<Upload>>
  let bytes = 0
  let doneBytes = 0
  const version = signal(0)
  const running = new Map<Upload, AbortController>()
  const sources = new WeakMap<Upload, Source>()
  let refusals = 0
  let isDrawing = false
  let isEnded = false

  function changed(): void {
    if (isDrawing) return
    isDrawing = true
    setTimeout(() => {
      isDrawing = false
      version.value++
    }, DRAW_MS)
  }

  const sentBytes = (upload: Upload) => (upload.state === 'checking' ? 0 : upload.doneBytes)
  const isListed = (upload: Upload) => byName.get(upload.filename) === upload

  function list(upload: Upload): void {
    byName.set(upload.filename, upload)
    byState[upload.state].add(upload)
    bytes += upload.file.size
    doneBytes += sentBytes(upload)
  }

  /** Stops it, and takes it off the list. */
  function unlist(upload: Upload): void {
    byName.delete(upload.filename)
    byState[upload.state].delete(upload)
    bytes -= upload.file.size
    doneBytes -= sentBytes(upload)
    upload.state = 'paused'
    running.get(upload)?.abort()
    changed()
  }

  function set(upload: Upload, change: Partial<Pick<Upload, 'state' | 'doneBytes' | 'keptBytes' | 'error'>>): void {
    if (!isListed(upload)) return
    const { state } = upload
    doneBytes -= sentBytes(upload)
    Object.assign(upload, change)
    doneBytes += sentBytes(upload)
    if (upload.state !== state) {
      byState[state].delete(upload)
      byState[upload.state].add(upload)
    }
    changed()
  }

  function finish(upload: Upload): void {
    refusals = 0
    set(upload, { state: 'done', doneBytes: upload.file.size, error: null })
    sources.delete(upload)
    void dropRecords(locker.locker_id, [upload.filename])
    events.onStored(upload.filename)
  }

  /** After an abort the state says already why. */
  function fail(upload: Upload, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    set(upload, { state: 'failed', error })
    if (isGatewayError(error, 'LOCKER_CAPACITY_EXCEEDED') && ++refusals >= REFUSALS_IN_A_ROW)
      refuseLarger(upload, error)
  }

  function refuseLarger({ file }: Upload, error: unknown): void {
    for (const upload of [...byState.waiting])
      if (upload.file.size >= file.size) set(upload, { state: 'failed', error })
  }

  const isSmall = ({ file }: Upload) => file.size <= SMALL_FILE_BYTES
  const lanes = { small: false, large: false }

  function start(): void {
    void runLane('small', nextBatch, sendBatch)
    void runLane('large', nextLarge, sendLarge)
  }

  async function runLane<T>(lane: keyof typeof lanes, next: () => T | null, send: (work: T) => Promise<void>) {
    if (lanes[lane]) return
    lanes[lane] = true
    for (let work = next(); work !== null; work = next()) await send(work)
    lanes[lane] = false
    changed()
    if (!isActive()) events.onSettled()
  }

  const isActive = () => byState.waiting.size + byState.checking.size + byState.sending.size > 0

  function nextLarge(): Upload | null {
    for (const upload of byState.waiting) if (!isSmall(upload)) return upload
    return null
  }

  function nextBatch(): Upload[] | null {
    const batch: Upload[] = []
    let size = 0
    for (const upload of byState.waiting) {
      if (!isSmall(upload)) continue
      batch.push(upload)
      size += upload.file.size
      if (batch.length === BATCH_FILES || size >= BATCH_BYTES) break
    }
    return batch.length === 0 ? null : batch
  }

  async function sendBatch(batch: readonly Upload[]): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    const waiting = new Map(batch.map((upload) => [upload.filename, upload]))
    const refused: Upload[] = []
    for (const upload of batch) {
      running.set(upload, controller)
      set(upload, { state: 'sending', doneBytes: 0, error: null })
    }
    async function* named(): AsyncGenerator<NamedBytes> {
      for (const upload of batch) {
        const bytes = await sourceOf(upload, signal).catch((error: unknown) => fail(upload, error, signal))
        if (bytes) yield { filename: upload.filename, bytes, contentType: typeOf(upload) }
      }
    }
    try {
      await (await client()).putMany(locker, named(), {
        signal,
        onFile(outcome) {
          const upload = waiting.get(outcome.filename)
          waiting.delete(outcome.filename)
          if (!upload) return
          if ('stored' in outcome) finish(upload)
          // A batch is created whole or not at all: some of its files may fit.
          else if (batch.length > 1 && isGatewayError(outcome.error, 'LOCKER_CAPACITY_EXCEEDED')) refused.push(upload)
          else fail(upload, outcome.error, signal)
        },
      })
    } catch (error) {
      for (const upload of waiting.values()) if (upload.state === 'sending') fail(upload, error, signal)
    }
    for (const upload of batch) running.delete(upload)
    for (const upload of refused) if (!signal.aborted && upload.state === 'sending') await sendAlone(upload)
    // One of them was paused or taken away; the others go on.
    for (const upload of batch) if (upload.state === 'sending') set(upload, { state: 'waiting', doneBytes: 0 })
  }

  async function sendAlone(upload: Upload): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    running.set(upload, controller)
    try {
      const bytes = await sourceOf(upload, signal)
      await (await client()).put(locker, upload.filename, bytes, { signal, contentType: typeOf(upload) })
      finish(upload)
    } catch (error) {
      fail(upload, error, signal)
    }
    running.delete(upload)
  }

  async function sendLarge(upload: Upload): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    running.set(upload, controller)
    set(upload, { state: 'checking', doneBytes: 0, keptBytes: 0, error: null })
    try {
      const source = await sourceOf(upload, signal)
      const scale = upload.file.size / (source.size || 1)
      set(upload, { state: 'sending', doneBytes: 0 })
      await (await client()).put(locker, upload.filename, source, {
        signal,
        contentType: typeOf(upload),
        onResume: (kept) => set(upload, { keptBytes: Math.round(kept * scale) }),
        onProgress: (done) => set(upload, { doneBytes: Math.round(done * scale) }),
      })
      finish(upload)
    } catch (error) {
      fail(upload, error, signal)
    }
    running.delete(upload)
  }

  /** Once for each upload: one that is continued is neither hashed nor encrypted again. */
  async function sourceOf(upload: Upload, signal: AbortSignal): Promise<Source> {
    const known = sources.get(upload)
    if (known) return known
    const { file, filename, encrypt } = upload
    const problem = filenameProblem(filename, DEFAULT_SYSTEM_PREFIX)
    if (problem) throw new InvalidFilename(problem)
    const source = encrypt
      ? await encrypt(file, filename, signal)
      : fileSource(file, isSmall(upload) ? null : await hashOf(file, signal, (doneBytes) => set(upload, { doneBytes })))
    sources.set(upload, source)
    return source
  }

  function pause(upload: Upload): void {
    if (upload.state === 'done' || upload.state === 'failed') return
    set(upload, { state: 'paused' })
    running.get(upload)?.abort()
  }

  function proceed(upload: Upload): void {
    if (upload.state !== 'paused' && upload.state !== 'failed') return
    refusals = 0
    set(upload, { state: 'waiting', error: null })
    start()
  }

  function cancel(uploads: readonly Upload[]): void {
    for (const upload of uploads) unlist(upload)
    const names = uploads.map(({ filename }) => filename)
    void dropRecords(locker.locker_id, names)
  }

  return {
    version,
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
    isUploading: (filename) => (byName.get(filename)?.state ?? 'done') !== 'done',
    add(files) {
      if (isEnded) return
      for (const { filename, file, handle, encrypt } of files) {
        const before = byName.get(filename)
        if (before) unlist(before)
        list({ filename, file, handle, encrypt, state: 'waiting', doneBytes: 0, keptBytes: 0, error: null })
      }
      changed()
      const records = files.map(({ filename, file: { size, lastModified }, handle, encrypt }) => {
        return { lockerId: locker.locker_id, filename, size, lastModified, isEncrypted: encrypt !== null, handle }
      })
      // Only then can every one of them be found again.
      void keepRecords(records).finally(start)
    },
    pauseAll: () => [...byName.values()].forEach(pause),
    continueAll: () => [...byState.paused].forEach(proceed),
    pause,
    proceed,
    cancel: (upload) => cancel([upload]),
    cancelAll: () => cancel([...byName.values()].filter(({ state }) => state !== 'done')),
    clear: () => [...byState.done].forEach(unlist),
    end() {
      isEnded = true
      ;[...byName.values()].forEach(unlist)
    },
  }
}

function typeOf({ file, filename, encrypt }: Upload): string {
  return encrypt ? 'application/octet-stream' : file.type || contentTypeOf(filename)
}

function fileSource(file: File, contentHash: string | null): Source {
  return {
    size: file.size,
    isRepeatable: true,
    ...(contentHash !== null && { contentHash }),
    open: () => chunksOf(file),
  }
}

async function hashOf(file: File, signal: AbortSignal, onProgress: (done: number) => void): Promise<string> {
  const hash = sha256Stream()
  let done = 0
  for await (const chunk of chunksOf(file)) {
    signal.throwIfAborted()
    hash.update(chunk)
    done += chunk.length
    onProgress(done)
  }
  return withPrefix(hash.hex())
}

/** In pieces, so that a file of any size takes little memory and what is not read is not. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; start += READ_AT_ONCE)
    yield new Uint8Array(await file.slice(start, start + READ_AT_ONCE).arrayBuffer())
}
