// Uploads files to a locker: small ones in batches, large ones separately, in parts.

import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { type Client, contentTypeOf, type Locker, type NamedBytes, SMALL_FILE_BYTES, type Source } from '@svc/sdk'
import { InvalidFilename, isGatewayError, NameTaken } from '@svc/sdk/errors'
import { fileSource, hashOf } from './file-source.ts'
import { dropRecords, saveRecords } from './records.ts'
import { createUploadList, type NewUpload, type Upload, type UploadList } from './upload-list.ts'

export interface Uploads extends Pick<UploadList, 'version' | 'totals' | 'first'> {
  /** Whether a file of this name is in the queue, including paused and failed ones. */
  isUploading(filename: string): boolean
  /** Adds files; a file with the same name replaces the earlier one. */
  add(files: readonly NewUpload[]): void
  pauseAll(): void
  continueAll(): void
  pause(upload: Upload): void
  /** Continues a paused or failed upload; a large file resumes where it stopped. */
  proceed(upload: Upload): void
  cancel(upload: Upload): void
  cancelAll(): void
  /** Removes finished uploads from the list. */
  clear(): void
  /** Stops everything permanently and drops files and keys. Records of unfinished uploads stay. */
  end(): void
}

export interface UploadEvents {
  onStored(filename: string): void
  /** Called when no upload waits or runs. */
  onSettled(): void
}

const BATCH_FILES = 100
const BATCH_BYTES = 32 * 1024 * 1024
/** After this many files that exceed the quota, the rest is not tried. */
const REFUSALS_IN_A_ROW = 10

export function createUploads(client: () => Promise<Client>, locker: Locker, events: UploadEvents): Uploads {
  const list = createUploadList()
  const { set, changed, isActive } = list
  const running = new Map<Upload, AbortController>()
  const sources = new WeakMap<Upload, Source>()
  let refusals = 0
  let isEnded = false

  /** Stops an upload, and removes it from the list. */
  function drop(upload: Upload): void {
    list.remove(upload)
    upload.state = 'paused'
    running.get(upload)?.abort()
  }

  function finish(upload: Upload): void {
    refusals = 0
    set(upload, { state: 'done', doneBytes: upload.file.size, error: null })
    sources.delete(upload)
    void dropRecords(locker.locker_id, [upload.filename])
    events.onStored(upload.filename)
  }

  /** Sets the failure, unless the upload was aborted: then the state already shows why. */
  function fail(upload: Upload, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    set(upload, { state: 'failed', error })
    if (isGatewayError(error, 'LOCKER_CAPACITY_EXCEEDED') && ++refusals >= REFUSALS_IN_A_ROW)
      refuseLarger(upload, error)
  }

  function refuseLarger({ file }: Upload, error: unknown): void {
    for (const upload of [...list.in('waiting')])
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

  function nextLarge(): Upload | null {
    for (const upload of list.in('waiting')) if (!isSmall(upload)) return upload
    return null
  }

  function nextBatch(): Upload[] | null {
    const batch: Upload[] = []
    let size = 0
    for (const upload of list.in('waiting')) {
      if (!isSmall(upload) || upload.mayReplace !== (batch[0] ?? upload).mayReplace) continue
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
        overwrite: batch[0]!.mayReplace,
        onFile(outcome) {
          const upload = waiting.get(outcome.filename)
          waiting.delete(outcome.filename)
          if (!upload) return
          if ('stored' in outcome) finish(upload)
          // Some files of the batch may fit, or have free names.
          else if (batch.length > 1 && isBatchError(outcome.error)) refused.push(upload)
          else fail(upload, outcome.error, signal)
        },
      })
    } catch (error) {
      for (const upload of waiting.values()) if (upload.state === 'sending') fail(upload, error, signal)
    }
    for (const upload of batch) running.delete(upload)
    for (const upload of refused) if (!signal.aborted && upload.state === 'sending') await sendAlone(upload)
    // One file was paused or removed; the others continue.
    for (const upload of batch) if (upload.state === 'sending') set(upload, { state: 'waiting', doneBytes: 0 })
  }

  async function sendAlone(upload: Upload): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    running.set(upload, controller)
    try {
      const bytes = await sourceOf(upload, signal)
      const { filename, mayReplace: overwrite } = upload
      await (await client()).put(locker, filename, bytes, { signal, contentType: typeOf(upload), overwrite })
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
    set(upload, { state: 'checking', doneBytes: 0, resumedBytes: 0, error: null })
    try {
      const source = await sourceOf(upload, signal)
      const scale = upload.file.size / (source.size || 1)
      set(upload, { state: 'sending', doneBytes: 0 })
      await (await client()).put(locker, upload.filename, source, {
        signal,
        contentType: typeOf(upload),
        overwrite: upload.mayReplace,
        onResume: (bytes) => set(upload, { resumedBytes: Math.round(bytes * scale) }),
        onProgress: (done) => set(upload, { doneBytes: Math.round(done * scale) }),
      })
      finish(upload)
    } catch (error) {
      fail(upload, error, signal)
    }
    running.delete(upload)
  }

  /** Created once per upload: a continued upload is neither hashed nor encrypted again. */
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
    for (const upload of uploads) drop(upload)
    const names = uploads.map(({ filename }) => filename)
    void dropRecords(locker.locker_id, names)
  }

  return {
    version: list.version,
    totals: list.totals,
    first: list.first,
    isUploading: (filename) => (list.named(filename)?.state ?? 'done') !== 'done',
    add(files) {
      if (isEnded) return
      for (const upload of files) {
        const before = list.named(upload.filename)
        if (before) drop(before)
        list.add({ ...upload, state: 'waiting', doneBytes: 0, resumedBytes: 0, error: null })
      }
      const records = files.map(({ filename, file: { size, lastModified }, handle, encrypt, mayReplace }) => {
        const isEncrypted = encrypt !== null
        return { lockerId: locker.locker_id, filename, size, lastModified, isEncrypted, handle, mayReplace }
      })
      // Only then can all of them be resumed.
      void saveRecords(records).finally(start)
    },
    pauseAll: () => list.all().forEach(pause),
    continueAll: () => [...list.in('paused')].forEach(proceed),
    pause,
    proceed,
    cancel: (upload) => cancel([upload]),
    cancelAll: () => cancel(list.all().filter(({ state }) => state !== 'done')),
    clear: () => [...list.in('done')].forEach(drop),
    end() {
      isEnded = true
      list.all().forEach(drop)
    },
  }
}

/** Whether an error rejects a complete batch: batches are created completely or not at all. */
function isBatchError(error: unknown): boolean {
  return isGatewayError(error, 'LOCKER_CAPACITY_EXCEEDED') || error instanceof NameTaken
}

function typeOf({ file, filename, encrypt }: Upload): string {
  return encrypt ? 'application/octet-stream' : file.type || contentTypeOf(filename)
}
