// Turns chosen files into uploads, one drop or choice after the other, so that each question about names knows the
// answers to the earlier ones.

import type { Client, Locker } from '@svc/sdk'
import type { Deletions } from '../deletions.ts'
import type { Chosen } from './dropped.ts'
import { type ConflictChoice, existingNames, type PlannedFile, plannedFiles, withoutConflicts } from './plan.ts'
import type { Uploads } from './queue.ts'
import type { Encrypt, Upload } from './upload-list.ts'

interface IntakeNeeds {
  client: Client
  locker: Locker
  uploads: Uploads
  deletions: Pick<Deletions, 'isPending' | 'release'>
  /** Asks what to do with names that already exist; null cancels all uploads. */
  ask: (names: readonly string[]) => Promise<ConflictChoice | null>
}

/** One drop or choice. */
interface Intake {
  chosen: Chosen | Promise<Chosen>
  /** The current folder, ending with a slash. */
  folder: string
  /** Encrypts with the key at the time of the choice (T-59). */
  encrypt: Encrypt | null
}

interface IntakeResult {
  unreadable: readonly string[]
  /** Whether all of the files were skipped. */
  isNothingLeft: boolean
}

export function createIntake({ client, locker, uploads, deletions, ask }: IntakeNeeds) {
  let last: Promise<unknown> = Promise.resolve()

  /** Names of stored files and running uploads. A name with a pending deletion does not ask. */
  async function findTaken(names: readonly string[]): Promise<Set<string>> {
    const existing = await existingNames(client, locker, names)
    return new Set(
      names.filter((name) => uploads.isUploading(name) || (existing.has(name) && !deletions.isPending(name))),
    )
  }

  async function take({ chosen, folder, encrypt }: Intake): Promise<IntakeResult> {
    const { files, unreadable } = await chosen
    const planned = plannedFiles(files, folder, encrypt !== null)
    const remaining = planned.length === 0 ? [] : await withoutConflicts(planned, findTaken, ask)
    if (remaining) await add(remaining, encrypt)
    return { unreadable, isNothingLeft: planned.length > 0 && remaining?.length === 0 }
  }

  /** Cancels the pending deletion of a file and replaces it. */
  async function add(planned: readonly PlannedFile[], encrypt: Encrypt | null): Promise<void> {
    const files = planned.map(({ filename, file, handle, mayReplace }) => {
      return { filename, file, handle, encrypt, mayReplace: mayReplace || deletions.isPending(filename) }
    })
    await deletions.release(files.map(({ filename }) => filename))
    uploads.add(files)
  }

  async function takeAgain(upload: Upload): Promise<void> {
    const { filename, file, handle, encrypt } = upload
    const remaining = await withoutConflicts(
      [{ path: filename, filename, file, handle, mayReplace: false }],
      findTaken,
      ask,
    )
    if (!remaining) return
    uploads.cancel(upload)
    await add(remaining, encrypt)
  }

  function inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = last.then(work)
    last = done.catch(() => {})
    return done
  }

  return {
    take: (intake: Intake): Promise<IntakeResult> => inOrder(() => take(intake)),
    /** Asks again about the name of an upload that another file got in the meantime. */
    takeAgain: (upload: Upload): Promise<void> => inOrder(() => takeAgain(upload)),
  }
}
