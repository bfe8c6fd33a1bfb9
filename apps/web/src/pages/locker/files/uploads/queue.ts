// Files on their way into a locker: small ones in batches, large ones in parts, each apart from the others.

import { type Signal, signal } from '@preact/signals'
import { withPrefix } from '@svc/protocol/bytes'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { sha256Stream } from '@svc/protocol/sha256'
import { type Client, contentTypeOf, type Locker, type NamedBytes, SMALL_FILE_BYTES, type Source } from '@svc/sdk'
import { InvalidFilename, isGatewayError } from '@svc/sdk/errors'
import { dropRecords, keepRecords } from './records.ts'

export type UploadState = 'waiting' | 'checking' | 'sending' | 'paused' | 'done' | 'failed'

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
  /** In the order they came. */
  readonly all: readonly Upload[]
  /** Changes with every step, at most once for each picture that the browser draws. */
  readonly version: Signal<number>
  totals(): Totals
  add(files: readonly Pick<Upload, 'filename' | 'file' | 'handle' | 'encrypt'>[]): void
  pauseAll(): void
  continueAll(): void
  pause(upload: Upload): void
  /** Sends a paused or failed one again; of a large one, what is not there yet. */
  proceed(upload: Upload): void
  cancel(upload: Upload): void
  cancelAll(): void
  /** Takes what is done off the list. */
  clear(): void
}

const BATCH_FILES = 100
const BATCH_BYTES = 32 * 1024 * 1024
/** So many files that do not fit, and the rest is not tried. */
const REFUSALS_IN_A_ROW = 10
/** Between two of these, the page can draw. */
const READ_AT_ONCE = 1024 * 1024

export function createUploads(
  client: () => Promise<Client>,
  locker: Locker,
  onStored: (filename: string) => void,
): Uploads {
  const all: Upload[] = []
  const version = signal(0)
  const running = new Map<Upload, AbortController>()
  const sources = new WeakMap<Upload, Source>()
  let refusals = 0
  let isDrawing = false

  function changed(): void {
    if (isDrawing) return
    isDrawing = true
    const draw = () => {
      isDrawing = false
      version.value++
    }
    // A hidden page draws nothing.
    if (document.hidden) setTimeout(draw, 200)
    else requestAnimationFrame(draw)
  }

  function set(upload: Upload, change: Partial<Pick<Upload, 'state' | 'doneBytes' | 'keptBytes' | 'error'>>): void {
    Object.assign(upload, change)
    changed()
  }

  function finish(upload: Upload): void {
    refusals = 0
    set(upload, { state: 'done', doneBytes: upload.file.size, error: null })
    sources.delete(upload)
    void dropRecords(locker.locker_id, [upload.filename])
    onStored(upload.filename)
  }

  /** After an abort the state says already why. */
  function fail(upload: Upload, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    set(upload, { state: 'failed', error })
    if (isGatewayError(error, 'LOCKER_CAPACITY_EXCEEDED') && ++refusals >= REFUSALS_IN_A_ROW)
      refuseLarger(upload, error)
  }

  function refuseLarger({ file }: Upload, error: unknown): void {
    for (const upload of all)
      if (upload.state === 'waiting' && upload.file.size >= file.size) set(upload, { state: 'failed', error })
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
  }

  function nextLarge(): Upload | null {
    return all.find((upload) => upload.state === 'waiting' && !isSmall(upload)) ?? null
  }

  function nextBatch(): Upload[] | null {
    const batch: Upload[] = []
    let bytes = 0
    for (const upload of all) {
      if (upload.state !== 'waiting' || !isSmall(upload)) continue
      batch.push(upload)
      bytes += upload.file.size
      if (batch.length === BATCH_FILES || bytes >= BATCH_BYTES) break
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

  const stop = (upload: Upload) => running.get(upload)?.abort()

  function pause(upload: Upload): void {
    if (upload.state === 'done' || upload.state === 'failed') return
    set(upload, { state: 'paused' })
    stop(upload)
  }

  function proceed(upload: Upload): void {
    if (upload.state !== 'paused' && upload.state !== 'failed') return
    refusals = 0
    set(upload, { state: 'waiting', error: null })
    start()
  }

  function cancel(upload: Upload): void {
    all.splice(all.indexOf(upload), 1)
    set(upload, { state: 'paused' })
    stop(upload)
    void dropRecords(locker.locker_id, [upload.filename])
  }

  return {
    all,
    version,
    totals() {
      const ongoing = all.filter(({ state }) => state === 'waiting' || state === 'checking' || state === 'sending')
      const count = (state: UploadState) => all.filter((upload) => upload.state === state).length
      return {
        files: all.length,
        doneFiles: count('done'),
        failedFiles: count('failed'),
        bytes: all.reduce((sum, { file }) => sum + file.size, 0),
        doneBytes: all.reduce((sum, upload) => sum + (upload.state === 'checking' ? 0 : upload.doneBytes), 0),
        isActive: ongoing.length > 0,
        isPaused: ongoing.length === 0 && count('paused') > 0,
      }
    },
    add(files) {
      const uploads = files.map((file) => ({
        ...file,
        state: 'waiting' as const,
        doneBytes: 0,
        keptBytes: 0,
        error: null,
      }))
      const names = new Set(files.map(({ filename }) => filename))
      // The same name again takes the place of the one before.
      for (const upload of all.filter(({ filename }) => names.has(filename))) cancel(upload)
      all.push(...uploads)
      changed()
      const records = uploads.map(({ filename, file, handle, encrypt }) => {
        const { size, lastModified } = file
        return { lockerId: locker.locker_id, filename, size, lastModified, isEncrypted: encrypt !== null, handle }
      })
      // Only then can every one of them be found again.
      void keepRecords(records).finally(start)
    },
    pauseAll: () => all.forEach(pause),
    continueAll: () => all.filter(({ state }) => state === 'paused').forEach(proceed),
    pause,
    proceed,
    cancel,
    cancelAll: () => [...all].filter(({ state }) => state !== 'done').forEach(cancel),
    clear() {
      all.splice(0, all.length, ...all.filter(({ state }) => state !== 'done'))
      changed()
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
