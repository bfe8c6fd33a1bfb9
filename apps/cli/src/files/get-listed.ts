// Downloads for owners and operators, who may list the locker. The hash in the list must match the hash that comes with
// the bytes.

import type { ManifestEntry } from '@svc/api/file-entries'
import { type Client, type Download, type Locker, plainName } from '@svc/sdk'
import { UntrueAnswer } from '@svc/sdk/errors'
import { Failure } from '../errors.ts'
import type { Progress } from '../output/progress.ts'
import { matching } from './matching.ts'
import type { Outcome } from './outcomes.ts'
import { decryptedName, type GetOptions, isOnDisk, requireSafeName } from './safe-path.ts'
import { foldingOf, sameNames } from './same-names.ts'
import { saveDownload } from './save-download.ts'

const AT_ONCE = 4

export type Listed = ReadonlyMap<string, ManifestEntry>

/** The stored files that match the names, or all of them if no names are given. */
export async function listed(
  client: Client,
  locker: Locker,
  names: readonly string[],
  signal: AbortSignal,
  { isPlaintextWanted = false }: { isPlaintextWanted?: boolean } = {},
): Promise<Listed> {
  const entries = new Map<string, ManifestEntry>()
  const wanted = matching(stored(client.files(locker, { signal })), names, { isPlaintextWanted })
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
  note: (text: string) => void
  report: (outcome: Outcome) => void
  /** The name on disk of a file in the locker; by default the same. */
  nameOnDisk?: (filename: string) => string
}

export async function getListed(job: GetJob, entries: Listed): Promise<void> {
  const { client, locker, signal, report } = job
  const wanted = await notOnDisk(job, await distinctOnDisk(job, entries))
  const receive = async (download: Download) => report(await save(job, wanted, download))
  for (const { filename, error } of await client.getMany(locker, [...wanted.keys()], receive, {
    atOnce: AT_ONCE,
    signal,
  }))
    if (error !== undefined && !signal.aborted) report({ filename, status: 'failed', error })
  signal.throwIfAborted()
}

/** Leaves out files that would overwrite each other on this disk. */
async function distinctOnDisk(job: GetJob, entries: Listed): Promise<Listed> {
  const { options, report } = job
  const nameOf = (filename: string) => decryptedName(storedName(job, filename), options)
  const names = new Set([...entries.keys()].map(nameOf))
  if (sameNames(names).size === 0) return entries
  const same = sameNames(names, await foldingOf(options.out))
  const distinct = new Map<string, ManifestEntry>()
  for (const [filename, entry] of entries) {
    const other = same.get(nameOf(filename))
    if (other === undefined) distinct.set(filename, entry)
    else {
      const error = new Failure(`on this disk it would overwrite ${other}, because the disk treats both names as one`)
      report({ filename, status: 'failed', error })
    }
  }
  return distinct
}

async function notOnDisk(job: GetJob, entries: Listed): Promise<Listed> {
  const { options, signal, progress, report } = job
  const wanted = new Map<string, ManifestEntry>()
  for (const [filename, entry] of entries) {
    signal.throwIfAborted()
    try {
      if (options.decrypt) requireOwnName(filename, entries)
      if (await isOnDisk(storedName(job, filename), entry, options)) {
        progress.add(entry.size_bytes ?? 0)
        const savedAs = options.file ?? decryptedName(storedName(job, filename), options)
        report(outcomeOf(job, 'unchanged', entry, savedAs))
      } else wanted.set(filename, entry)
    } catch (error) {
      report({ filename, status: 'failed', error })
    }
  }
  return wanted
}

/** Decrypted files lose their ending, so two files can have the same name on disk. */
function requireOwnName(filename: string, entries: Listed): void {
  const name = plainName(filename)
  if (name !== filename && entries.has(name))
    throw new Failure(`${name} is also in the locker, and both would be saved under that name`)
}

async function save(job: GetJob, wanted: Listed, download: Download): Promise<Outcome> {
  const { options, progress, note } = job
  const { filename, contentHash } = download
  const entry = wanted.get(filename) as ManifestEntry // `getMany` returns only requested files
  if (contentHash === null || contentHash !== entry.content_hash)
    throw new UntrueAnswer(`it lists ${JSON.stringify(filename)} as ${entry.content_hash}, and sends ${contentHash}`)
  let written = 0
  const onBytes = (bytes: number) => {
    written += bytes
    progress.add(bytes)
  }
  const name = storedName(job, filename)
  const { savedAs, isEncrypted } = await saveDownload(download, { name, note, onBytes }, options)
  // A decrypted file is shorter than its download.
  progress.add((entry.size_bytes ?? written) - written)
  return { ...outcomeOf(job, 'saved', entry, savedAs), ...(isEncrypted && { encrypted: true }) }
}

/** The name on disk of a file that is not decrypted. */
function storedName({ nameOnDisk = (name) => name }: GetJob, filename: string): string {
  return nameOnDisk(filename)
}

function outcomeOf(
  job: GetJob,
  status: 'unchanged' | 'saved',
  { filename, size_bytes, content_hash }: ManifestEntry,
  savedAs: string,
) {
  const isElsewhere = savedAs !== storedName(job, filename)
  return { filename, status, size_bytes: size_bytes ?? 0, content_hash, ...(isElsewhere && { saved_as: savedAs }) }
}
