// Files of a locker that one may list. The gateway says twice what each file is, in its list and with its bytes, and is
// held to it.

import type { ManifestEntry } from '@svc/api/file-entries'
import type { Client, Download, Locker } from '@svc/sdk'
import { UntrueAnswer } from '@svc/sdk/errors'
import { saveAs } from '@svc/sdk/node'
import { Failure } from '../errors.ts'
import type { Progress } from '../output/progress.ts'
import type { Outcome } from './outcomes.ts'
import { type GetOptions, isOnDisk, requireHarmless, safePath } from './safe-path.ts'

const AT_ONCE = 4

export type Listed = ReadonlyMap<string, ManifestEntry>

/** Those that have bytes and go by the names that are given; all of them where none are. */
export async function listed(
  client: Client,
  locker: Locker,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Listed> {
  const entries = new Map<string, ManifestEntry>()
  const unused = new Set(names)
  for await (const entry of client.files(locker, { signal })) {
    const name = nameItGoesBy(entry.filename, names)
    if (name === null || entry.status !== 'confirmed') continue
    requireHarmless(entry.filename)
    unused.delete(name)
    entries.set(entry.filename, entry)
  }
  if (unused.size > 0) throw new Failure(`there is no ${[...unused].join(', ')}`, '`svc ls` shows what is there')
  return entries
}

/** Its own, or that of a folder it is in. */
export function nameItGoesBy(filename: string, names: readonly string[]): string | null {
  if (names.length === 0) return ''
  return names.find((name) => filename === name || filename.startsWith(name.endsWith('/') ? name : `${name}/`)) ?? null
}

export interface Getting {
  client: Client
  locker: Locker
  options: GetOptions
  signal: AbortSignal
  progress: Progress
  tell: (outcome: Outcome) => void
}

export async function getListed(getting: Getting, entries: Listed): Promise<void> {
  const { client, locker, signal, tell } = getting
  const wanted = await notOnDisk(getting, entries)
  const receive = async (download: Download) => tell(await save(getting, wanted, download))
  for (const { filename, error } of await client.getMany(locker, [...wanted.keys()], receive, {
    atOnce: AT_ONCE,
    signal,
  }))
    if (error !== undefined && !signal.aborted) tell({ filename, status: 'failed', error })
  signal.throwIfAborted()
}

async function notOnDisk({ options, signal, progress, tell }: Getting, entries: Listed): Promise<Listed> {
  const wanted = new Map<string, ManifestEntry>()
  for (const [filename, entry] of entries) {
    signal.throwIfAborted()
    try {
      if (await isOnDisk(filename, entry.content_hash, options)) {
        progress.add(entry.size_bytes ?? 0)
        tell(outcomeOf('unchanged', entry))
      } else wanted.set(filename, entry)
    } catch (error) {
      tell({ filename, status: 'failed', error })
    }
  }
  return wanted
}

async function save({ options, progress }: Getting, wanted: Listed, download: Download): Promise<Outcome> {
  const { filename, contentHash } = download
  const entry = wanted.get(filename)
  if (!entry) throw new UntrueAnswer(`it sends ${JSON.stringify(filename)}, which nobody asked for`)
  if (contentHash === null || contentHash !== entry.content_hash)
    throw new UntrueAnswer(`it lists ${JSON.stringify(filename)} as ${entry.content_hash}, and sends ${contentHash}`)
  const { out, overwrite: replace = false } = options
  await saveAs(counted(download, progress), await safePath(out, filename), { replace })
  return outcomeOf('saved', entry)
}

function outcomeOf(status: 'unchanged' | 'saved', { filename, size_bytes, content_hash }: ManifestEntry): Outcome {
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
