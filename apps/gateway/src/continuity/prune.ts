// The journal is needed for as long as an older backup may be restored. What is removed is in the database.

import { ALIVE_MS, filesIn, JOURNAL, type JournalFile, recordPruned, removeFile } from '@svc/database/journal/folder'
import { hasLinesAfter } from '@svc/database/journal/journal'
import type { Database } from '@svc/database/open'
import type { Schema } from '../db/schema.ts'
import { LOG } from './earlier-logbook.ts'
import type { Noted } from './noted.ts'
import { forgetFiles, readTo } from './store.ts'

export interface KeptFile extends JournalFile {
  /** Whether the database has all that is in it. */
  isRead: boolean
}

/** The oldest first, with those of release 1.1.0. */
export async function listJournal({ db }: Pick<Database<Schema>, 'db'>, folder: string): Promise<KeptFile[]> {
  const known = await readTo(db)
  const files: KeptFile[] = []
  for (const file of [...(await filesIn(folder, LOG)), ...(await filesIn(folder, JOURNAL))])
    files.push({ ...file, isRead: !(await hasLinesAfter(folder, file.name, known.get(file.name) ?? 0)) })
  return files
}

/** Removes files that were last written before then, in Unix milliseconds, and that no process has. Returns their names. */
export async function pruneJournal(
  database: Pick<Database<Schema, Noted>, 'db' | 'commit'>,
  folder: string,
  beforeMs: number,
): Promise<string[]> {
  const files = await listJournal(database, folder)
  const before = Math.min(beforeMs, Date.now() - ALIVE_MS)
  const old = files.filter(({ isRead, touchedMs }) => isRead && touchedMs < before).map(({ name }) => name)
  if (old.length > 0) await recordPruned(folder, old)
  for (const name of old) await removeFile(folder, name)
  if (old.length > 0) await database.commit((tx) => forgetFiles(tx, old))
  return old
}
