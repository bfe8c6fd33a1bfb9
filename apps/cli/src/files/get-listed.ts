// Downloads for owners and operators, who may list the locker. The hash in the list must match the hash that comes with
// the bytes.

import type { ManifestEntry } from '@svc/api/file-entries'
import { type Client, type Download, type Locker, plainName } from '@svc/sdk'
import { UntrueAnswer } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import type { Progress } from '../output/progress.ts'
import { matching } from './matching.ts'
import type { Outcome } from './outcomes.ts'
import { type GetOptions, isOnDisk, requireSafeName } from './safe-path.ts'
import { saveDownload } from './save-download.ts'

const AT_ONCE = 4

export type Listed = ReadonlyMap<string, ManifestEntry>

/** The stored files that match the names, or all of them if no names are given. */
export async function listed(
  client: Client,
  locker: Locker,
  names: readonly string[],
  { decrypt = null }: GetOptions,
  signal: AbortSignal,
): Promise<Listed> {
  const entries = new Map<string, ManifestEntry>()
  const wanted = matching(stored(client.files(locker, { signal })), names, { isPlaintextWanted: decrypt !== null })
  for await (const { entry } of wanted) {
    requireSafeName(entry.filename)
    entries.set(entry.filename, entry)
  }
  return entries
}

async function* stored(entries: AsyncIterable<ManifestEntry>): AsyncGenerator<ManifestEntry> {
  for await (const entry of entries) if (entry.status === 'confirmed') yield entry
}

export interface GetJob {
  client: Client
  locker: Locker
  options: GetOptions
  signal: AbortSignal
  progress: Progress
  report: (outcome: Outcome) => void
}

export async function getListed(job: GetJob, entries: Listed): Promise<void> {
  const { client, locker, signal, report } = job
  const wanted = await notOnDisk(job, entries)
  const receive = async (download: Download) => report(await save(job, wanted, download))
  for (const { filename, error } of await client.getMany(locker, [...wanted.keys()], receive, {
    atOnce: AT_ONCE,
    signal,
  }))
    if (error !== undefined && !signal.aborted) report({ filename, status: 'failed', error })
  signal.throwIfAborted()
}

async function notOnDisk({ options, signal, progress, report }: GetJob, entries: Listed): Promise<Listed> {
  const wanted = new Map<string, ManifestEntry>()
  for (const [filename, entry] of entries) {
    signal.throwIfAborted()
    try {
      if (options.decrypt) requireOwnName(filename, entries)
      if (await isOnDisk(entry, options)) {
        progress.add(entry.size_bytes ?? 0)
        report(outcomeOf('unchanged', entry))
      } else wanted.set(filename, entry)
    } catch (error) {
      report({ filename, status: 'failed', error })
    }
  }
  return wanted
}

/** Decrypted files lose their ending, so two may want one name. */
function requireOwnName(filename: string, entries: Listed): void {
  const name = plainName(filename)
  if (name !== filename && entries.has(name))
    throw new Failure(`${name} is in the locker too, and both would be saved under that name`)
}

async function save({ options, progress }: GetJob, wanted: Listed, download: Download): Promise<Outcome> {
  const { filename, contentHash } = download
  const entry = wanted.get(filename)
  if (!entry) throw new UntrueAnswer(`it sends ${JSON.stringify(filename)}, which nobody asked for`)
  if (contentHash === null || contentHash !== entry.content_hash)
    throw new UntrueAnswer(`it lists ${JSON.stringify(filename)} as ${entry.content_hash}, and sends ${contentHash}`)
  const { isEncrypted } = await saveDownload(counted(download, progress), options)
  return { ...outcomeOf('saved', entry), ...(isEncrypted && { encrypted: true }) }
}

function outcomeOf(status: 'unchanged' | 'saved', { filename, size_bytes, content_hash }: ManifestEntry) {
  return { filename, status, size_bytes: size_bytes ?? 0, content_hash }
}

function counted(download: Download, progress: Progress): Download {
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      progress.add(chunk.length)
      controller.enqueue(chunk)
    },
  })
  return { ...download, stream: download.stream.pipeThrough(count) }
}
