// The plan of a sync in either direction. Nothing changes before the plan is carried out.

import { realpath, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { ManifestEntry } from '@svc/api/file-entries'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { isGatewayError } from '@svc/sdk/errors'
import { type Found, walk } from '@svc/sdk/node'
import { Failure } from '../errors.ts'
import type { Progress } from '../output/progress.ts'
import { counted } from '../output/quantities.ts'
import type { Session } from '../session.ts'
import type { NamedLocker } from '../setup/known-lockers.ts'
import { keyFiles } from '../setup/wallet.ts'
import { collect, leftOutText, secretsAt } from './collect.ts'
import { reportDeliveries } from './deliveries.ts'
import { getListed, listed } from './get-listed.ts'
import type { Outcome } from './outcomes.ts'
import { excluderOf, type IsExcluded, type PatternOptions } from './patterns.ts'
import { putAll, storedOutcome } from './put-all.ts'
import { requireNoLink } from './safe-path.ts'
import { type Folding, foldedName, foldingOf } from './same-names.ts'
import { isStored } from './unchanged.ts'

type Report = (outcome: Outcome) => void

export interface SyncOptions extends PatternOptions {
  delete?: boolean
  dryRun?: boolean
}

export interface SyncPlan {
  /** The target, as text for users. */
  title: string
  files: number
  bytes: number
  /** Names in the target that are not in the source. */
  deletions: readonly string[]
  /** How many files are in the target now. */
  filesThere: number
  transfer(progress: Progress, report: Report, isDryRun: boolean): Promise<void>
  remove(filename: string): Promise<void>
  /** Reports what continues after files were stored. */
  afterwards?(): Promise<void>
}

export async function uploadPlan(
  session: Session,
  locker: NamedLocker,
  folder: string,
  prefix: string,
  options: SyncOptions,
): Promise<SyncPlan> {
  const { output, host } = session
  const isSecret = await secretsAt(keyFiles(host.env, session.settings.wallet))
  const to = prefix === '' ? {} : { to: prefix }
  const { files, leftOut, systemFiles } = await collect([folder], { ...options, ...to, isSecret })
  for (const line of leftOutText({ leftOut, systemFiles })) output.note(line)
  const client = await session.lockerClient(locker)
  const isExcluded = await excluderOf(options, folder)
  const stored = await listed(client, locker, [], host.signal)
  const isKept = keepFilter(leftOut, isExcluded)
  const isThere = (name: string) => name.startsWith(prefix) && !isKept(name.slice(prefix.length))
  const there = options.delete ? [...stored.keys()].filter(isThere) : []
  const names = new Set(files.map(({ name }) => name))
  return {
    title: titleOf(locker, prefix),
    files: files.length,
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    deletions: there.filter((name) => !names.has(name)),
    filesThere: there.length,
    async transfer(progress, report, isDryRun) {
      if (!isDryRun)
        return putAll({ session, client, locker, stored }, files, (outcome, bytes) => {
          progress.add(bytes)
          if (outcome) report(outcome)
        })
      for (const file of files) {
        const content_hash = stored.get(file.name)?.content_hash ?? null
        const facts = { filename: file.name, size_bytes: file.size }
        const isUnchanged = await isStored(file, stored.get(file.name))
        if (isUnchanged) report({ ...facts, status: 'unchanged', content_hash })
        else report(storedOutcome({ ...facts, content_hash: null }, stored))
      }
    },
    async remove(filename) {
      await client.remove(locker, filename).catch((error: unknown) => {
        if (!isGatewayError(error, 'FILE_NOT_FOUND')) throw error
      })
    },
    afterwards: () => reportDeliveries(session, client, locker),
  }
}

export async function downloadPlan(
  session: Session,
  locker: NamedLocker,
  prefix: string,
  folder: string,
  options: SyncOptions,
): Promise<SyncPlan> {
  const { output, host } = session
  const { signal } = host
  const client = await session.lockerClient(locker)
  const isExcluded = await excluderOf(options, folder)
  const nameOnDisk = (filename: string) => filename.slice(prefix.length)
  const below = [...(await listed(client, locker, [], signal))].filter(([name]) => name.startsWith(prefix))
  if (below.length === 0 && prefix !== '')
    throw new Failure(`${titleOf(locker, prefix)} does not exist: nothing was changed`, '`svc ls` lists the files')
  const entries = new Map(below.filter(([name]) => !isExcluded(nameOnDisk(name))))
  if (entries.size < below.length) output.note(`left out: ${counted(below.length - entries.size, 'excluded file')}`)
  const there = options.delete ? await filesOnDisk(session, folder, prefix, isExcluded) : []
  return {
    title: folder,
    files: entries.size,
    bytes: [...entries.values()].reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0),
    deletions: await missingIn([...entries.keys()].map(nameOnDisk), there, folder),
    filesThere: there.length,
    async transfer(progress, report, isDryRun) {
      const good = new Map(entries)
      for (const name of entries.keys()) {
        const problem = filenameProblem(nameOnDisk(name), DEFAULT_SYSTEM_PREFIX)
        if (problem === null) continue
        good.delete(name)
        report({ filename: name, status: 'failed', error: new Failure(`its name in the folder ${problem}`) })
      }
      const get = { out: folder, overwrite: true, keepLinks: true }
      if (!isDryRun)
        return getListed(
          { client, locker, options: get, signal, progress, note: output.note, report, nameOnDisk },
          good,
        )
      for (const entry of good.values()) report(await wouldSave(join(folder, nameOnDisk(entry.filename)), entry))
    },
    remove: (name) => removeBelow(folder, name),
  }
}

function titleOf({ name, locker_id }: NamedLocker, prefix: string): string {
  return `${name ?? locker_id}${prefix === '' ? '' : `:${prefix}`}`
}

/** Matches the files of the target that stay unchanged: those that are left out of the source, or would be. */
export function keepFilter(leftOut: readonly { name: string; leftOut: string }[], isExcluded: IsExcluded) {
  const names = new Set(leftOut.flatMap(({ name, leftOut: why }) => (why === 'an empty folder' ? [] : [name])))
  return (name: string) => {
    if (isExcluded(name)) return true
    const parts = name.split('/')
    return parts.some((_, i) => names.has(parts.slice(0, i + 1).join('/')))
  }
}

/** The names of files that could have come from the locker. A name that it cannot have is never deleted. */
async function filesOnDisk(
  { host, settings }: Session,
  folder: string,
  prefix: string,
  isExcluded: IsExcluded,
): Promise<string[]> {
  const files: string[] = []
  const leftOut: Extract<Found, { leftOut: string }>[] = []
  const isSecret = await secretsAt(keyFiles(host.env, settings.wallet))
  // A dry run creates no folder.
  if (!(await stat(folder).catch(() => null))) return []
  for await (const found of walk(folder, { isExcluded, isSecret })) {
    if ('leftOut' in found) leftOut.push(found)
    else files.push(found.name)
  }
  const isKept = keepFilter(leftOut, isExcluded)
  const isGood = (name: string) => filenameProblem(name, DEFAULT_SYSTEM_PREFIX) === null
  return files.filter((name) => !isKept(name) && isGood(name) && isGood(prefix + name))
}

/**
 * The target files that are not wanted. A disk may list a file under another form of its name: that is the same file.
 */
async function missingIn(wanted: readonly string[], there: readonly string[], folder: string): Promise<string[]> {
  const names = new Set(wanted)
  const gone = there.filter((name) => !names.has(name))
  const goneBy = (folding: Folding) => {
    const folded = new Set(wanted.map(folding))
    return gone.filter((name) => !folded.has(folding(name)))
  }
  return goneBy(foldedName).length === gone.length ? gone : goneBy(await foldingOf(folder))
}

async function wouldSave(path: string, entry: ManifestEntry): Promise<Outcome> {
  const { filename, size_bytes, content_hash } = entry
  const size = (await stat(path).catch(() => null))?.size
  const isThere = size !== undefined && (await isStored({ name: filename, path, size }, { ...entry }))
  try {
    if (!isThere) await requireNoLink(path)
  } catch (error) {
    return { filename, status: 'failed', error }
  }
  return { filename, status: isThere ? 'unchanged' : 'saved', size_bytes: size_bytes ?? 0, content_hash }
}

/** Removes a file, and the folders that become empty. It follows no link that was created in the meantime. */
async function removeBelow(folder: string, name: string): Promise<void> {
  const root = await realpath(folder)
  const path = join(root, name)
  if ((await realpath(dirname(path))) !== dirname(path))
    throw new Failure(`${path} is behind a link: it was not deleted`)
  await rm(path)
  for (let parent = dirname(path); relative(root, parent).split(sep)[0] !== ''; parent = dirname(parent)) {
    const isEmpty = await rmdir(parent).then(
      () => true,
      () => false,
    )
    if (!isEmpty) return
  }
}
