// From files that were chosen to uploads: one drop or choice after the other, so that each question is asked and none is
// about files that another answer has just named.

import type { Client, Locker } from '@svc/sdk'
import type { Deletions } from '../deletions.ts'
import type { Chosen } from './dropped.ts'
import { type ConflictChoice, existingNames, plannedFiles, withoutConflicts } from './plan.ts'
import type { Uploads } from './queue.ts'
import type { Encrypt } from './upload-list.ts'

interface IntakeNeeds {
  client: Client
  locker: Locker
  uploads: Uploads
  deletions: Pick<Deletions, 'isLeaving' | 'release'>
  /** Which files of names that are taken are to be uploaded; null: none of all. */
  ask: (names: readonly string[]) => Promise<ConflictChoice | null>
}

interface Intake {
  chosen: Chosen | Promise<Chosen>
  /** The one that was shown, with a slash at its end. */
  folder: string
  /** By the key of the moment when they were chosen (T-77). */
  encrypt: Encrypt | null
}

/** Of one choice. */
interface Taken {
  unreadable: readonly string[]
  /** Whether all of the files were skipped. */
  isNothingLeft: boolean
}

export function createIntake({ client, locker, uploads, deletions, ask }: IntakeNeeds) {
  let last: Promise<unknown> = Promise.resolve()

  /** Names of files that are there, or on their way. Who deletes a file and uploads it again is not asked. */
  async function findTaken(names: readonly string[]): Promise<Set<string>> {
    const existing = await existingNames(client, locker, names)
    return new Set(
      names.filter((name) => uploads.isUploading(name) || (existing.has(name) && !deletions.isLeaving(name))),
    )
  }

  async function take({ chosen, folder, encrypt }: Intake): Promise<Taken> {
    const { files, unreadable } = await chosen
    const planned = plannedFiles(files, folder, encrypt !== null)
    const left = planned.length === 0 ? [] : await withoutConflicts(planned, findTaken, ask)
    if (left && left.length > 0) {
      await deletions.release(left.map(({ filename }) => filename))
      uploads.add(left.map(({ filename, file, handle }) => ({ filename, file, handle, encrypt })))
    }
    return { unreadable, isNothingLeft: planned.length > 0 && left?.length === 0 }
  }

  return (intake: Intake): Promise<Taken> => {
    const taken = last.then(() => take(intake))
    last = taken.catch(() => {})
    return taken
  }
}
