// Prunes the journal. Entries are needed as long as an older backup may be restored; what is removed is in the
// database.

import { ALIVE_MS, filesIn, JOURNAL, type JournalFile, recordPruned, removeFile } from '@svc/database/journal/folder'
import { hasLinesAfter } from '@svc/database/journal/journal'
import type { Database } from '@svc/database/open'
import type { Schema } from '../db/schema.ts'
import type { DocumentId } from './document-id.ts'
import { LOG } from './earlier-logbook.ts'
import { forgetFiles, readTo } from './store.ts'

export interface KeptFile extends JournalFile {
  /** Whether the database has everything in the file. */
  isRead: boolean
}

/** The oldest first, including files of release 1.1.0. */
export async function listJournal({ db }: Pick<Database<Schema>, 'db'>, folder: string): Promise<KeptFile[]> {
  const known = await readTo(db)
  const files: KeptFile[] = []
  for (const file of [...(await filesIn(folder, LOG)), ...(await filesIn(folder, JOURNAL))])
    files.push({ ...file, isRead: !(await hasLinesAfter(folder, file.name, known.get(file.name) ?? 0)) })
  return files
}

/** Removes files that were last written before `beforeMs` and that no process has open. Returns their names. */
export async function pruneJournal(
  database: Pick<Database<Schema, DocumentId>, 'db' | 'commit'>,
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
