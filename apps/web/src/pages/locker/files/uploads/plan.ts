// Names for chosen files: in the current folder, with the ending of encrypted files, and different from existing names.

import { fileUrls, MAX_FILES_PER_BATCH } from '@svc/api/files'
import { type Client, ENCRYPTED_ENDING, type Locker } from '@svc/sdk'
import type { ChosenFile } from './dropped.ts'

export interface PlannedFile extends ChosenFile {
  filename: string
  /** Whether it may replace a file with its name: only after the user agreed. */
  mayReplace: boolean
}

export type ConflictChoice = 'replace' | 'keep-both' | 'skip'

export function plannedFiles(chosen: readonly ChosenFile[], folder: string, isEncrypted: boolean): PlannedFile[] {
  const byName = new Map<string, PlannedFile>()
  for (const one of chosen) {
    const filename = folder + one.path + (isEncrypted ? ENCRYPTED_ENDING : '')
    byName.set(filename, { ...one, filename, mayReplace: false })
  }
  return [...byName.values()]
}

/** The names that complete files already have. */
export async function existingNames(
  client: Client,
  { locker_id }: Locker,
  filenames: readonly string[],
): Promise<Set<string>> {
  const existing = new Set<string>()
  // Longer names are invalid, and no request may contain them.
  const possible = filenames.filter((name) => name.length <= 512)
  for (let i = 0; i < possible.length; i += MAX_FILES_PER_BATCH) {
    const asked = possible.slice(i, i + MAX_FILES_PER_BATCH)
    const { body } = await client.call(fileUrls, { params: { locker_id }, body: { filenames: asked, ttl_min: 1 } })
    for (const { filename } of body.urls) existing.add(filename)
  }
  return existing
}

type Find = (filenames: readonly string[]) => Promise<ReadonlySet<string>>

/**
 * Asks about each existing name once, and checks again after the answer, which may take a while. Returns null to upload
 * nothing.
 */
export async function withoutConflicts(
  planned: readonly PlannedFile[],
  findTaken: Find,
  ask: (names: readonly string[]) => Promise<ConflictChoice | null>,
): Promise<PlannedFile[] | null> {
  const answered = new Set<string>()
  for (let files = [...planned]; ; ) {
    const names = files.map(({ filename }) => filename).filter((name) => !answered.has(name))
    const taken = await findTaken(names)
    if (taken.size === 0) return files
    const choice = await ask([...taken])
    if (choice === null) return null
    files = await resolveConflicts(files, taken, choice, findTaken)
    for (const name of taken) answered.add(name)
  }
}

/** The files to upload. To keep both files, the new one gets the first free name of the form `name (2).txt`. */
export async function resolveConflicts(
  planned: readonly PlannedFile[],
  existing: ReadonlySet<string>,
  choice: ConflictChoice,
  findExisting: Find,
): Promise<PlannedFile[]> {
  if (choice === 'replace')
    return planned.map((one) => (existing.has(one.filename) ? { ...one, mayReplace: true } : one))
  const free = planned.filter(({ filename }) => !existing.has(filename))
  if (choice === 'skip') return free
  const taken = new Set([...existing, ...planned.map(({ filename }) => filename)])
  let open = planned.filter(({ filename }) => existing.has(filename))
  const renamed: PlannedFile[] = []
  for (let number = 2; open.length > 0; number++) {
    const tried = open.map((one) => ({ one, name: numbered(one.filename, number) }))
    for (const name of await findExisting(tried.map(({ name }) => name))) taken.add(name)
    open = []
    for (const { one, name } of tried) {
      if (taken.has(name)) open.push(one)
      else renamed.push({ ...one, filename: name })
      taken.add(name)
    }
  }
  return [...free, ...renamed]
}

/** `a/b.txt` becomes `a/b (2).txt`; `a.txt.age` becomes `a (2).txt.age`. */
export function numbered(filename: string, number: number): string {
  const slash = filename.lastIndexOf('/') + 1
  const name = filename.slice(slash)
  const [, base = name, ending = ''] = /^(.+?)((?:\.[^.]{1,12})?(?:\.age)?)$/s.exec(name) ?? []
  return `${filename.slice(0, slash)}${base} (${number})${ending}`
}
