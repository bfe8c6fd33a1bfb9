// What the gateway has on record of every file, held against what it had before.

import type { ManifestEntry } from '@svc/api/file-entries'
import { bare } from '@svc/protocol/bytes'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/schema.ts'
import type { News } from '../findings/add-findings.ts'
import { counted, noteStep, type Outcome, type Run } from '../runs/run.ts'
import { findMirrors, findSeenFiles, findUnseenFiles, forgetFiles, putSeenFiles, type SeenFile } from './watch-store.ts'

const AT_ONCE = 500

export type RecordedFile = Pick<SeenFile, 'filename' | 'sha256' | 'size_bytes'>

interface Watching {
  /** Nothing is new the first time. */
  isFirst: boolean
}

/** To be listed again costs little, and finds nothing twice: a run that was cut off begins the list anew. */
export async function watchFiles(context: Context, run: Run, watching: Watching): Promise<void> {
  if ('files' in run.summary) return
  let files = 0
  let totalBytes = 0
  let batch: RecordedFile[] = []
  const noteBatch = () => noteStep(context, run, (tx) => compareFiles(tx, run, batch, watching))

  for await (const entry of run.client.files(run.locker, { signal: run.signal })) {
    const file = recordedFile(entry)
    if (!file) continue
    files += 1
    totalBytes += file.size_bytes
    if (batch.push(file) < AT_ONCE) continue
    await noteBatch()
    batch = []
  }
  await noteBatch()
  await noteGone(context, run)
  await noteStep(context, run, async () => ({ summary: { files, total_bytes: totalBytes } }))
}

/** Null for what has no bytes yet. */
function recordedFile({ filename, content_hash, size_bytes }: ManifestEntry): RecordedFile | null {
  return content_hash === null || size_bytes === null ? null : { filename, sha256: bare(content_hash), size_bytes }
}

/** Other bytes than before are to be read anew; what was wrong with the old ones is over. */
export async function compareFiles(
  db: Db,
  run: Run,
  files: readonly RecordedFile[],
  { isFirst }: Watching,
): Promise<Outcome> {
  if (files.length === 0) return { summary: {} }
  const { delegation_id, run_id } = run
  const names = files.map(({ filename }) => filename)
  const seen = await findSeenFiles(db, delegation_id, names)
  const mirrors = await findMirrors(db, delegation_id)
  const isOwn = ({ filename, sha256 }: RecordedFile) => mirrors.get(filename)?.sha256 === sha256
  const added = files.filter((file) => !seen.has(file.filename))
  const changed = files.filter((file) => (seen.get(file.filename)?.sha256 ?? file.sha256) !== file.sha256)
  await putSeenFiles(
    db,
    files.map((file) => {
      const before = seen.get(file.filename)
      const { read_at, trouble } = before?.sha256 === file.sha256 ? before : { read_at: null, trouble: null }
      return { ...file, delegation_id, run_id, read_at, trouble }
    }),
  )
  // What a mirror has put there is told as the mirror's.
  const news: News[] = [
    ...(isFirst ? [] : added).filter((file) => !isOwn(file)).map(newFile),
    ...changed.filter((file) => !isOwn(file)).map((file) => changedFile(file, seen.get(file.filename) as SeenFile)),
  ]
  const summary = { ...counted(run, 'new', isFirst ? 0 : added.length), ...counted(run, 'changed', changed.length) }
  return { news, summary }
}

function newFile({ filename, sha256, size_bytes }: RecordedFile): News {
  return { kind: 'file_new', detail: { filename, sha256, size_bytes } }
}

function changedFile({ filename, sha256, size_bytes }: RecordedFile, before: SeenFile): News {
  return { kind: 'file_changed', detail: { filename, before: before.sha256, after: sha256, size_bytes } }
}

async function noteGone(context: Context, run: Run): Promise<void> {
  for (let isMore = true; isMore; ) {
    await noteStep(context, run, async (tx) => {
      const gone = await findUnseenFiles(tx, run, AT_ONCE)
      isMore = gone.length === AT_ONCE
      return forgetGone(tx, run, gone)
    })
  }
}

export async function forgetGone(db: Db, run: Run, gone: readonly SeenFile[]): Promise<Outcome> {
  if (gone.length === 0) return { summary: {} }
  const names = gone.map(({ filename }) => filename)
  await forgetFiles(db, run.delegation_id, names)
  return {
    news: gone.map(({ filename, sha256 }) => ({ kind: 'file_gone', detail: { filename, sha256 } })),
    summary: counted(run, 'gone', gone.length),
  }
}
