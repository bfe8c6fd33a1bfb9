// Compares the gateway's record of every file with the record of earlier runs.

import type { ManifestEntry } from '@svc/api/file-entries'
import { bare } from '@svc/protocol/bytes'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import type { NewFinding } from '../findings/add-findings.ts'
import { counted, type Run, recordStep, type StepResult } from '../runs/run.ts'
import { findMirrors } from './mirror-store.ts'
import { deleteSeenFiles, findGoneFiles, findSeenFiles, putSeenFiles, type SeenFile } from './watch-store.ts'

const BATCH = 500

export type RecordedFile = Pick<SeenFile, 'filename' | 'sha256' | 'size_bytes'>

interface WatchOptions {
  /** In the first run, no file counts as new. */
  isFirst: boolean
}

/** An interrupted run lists the files again: that costs little and reports nothing twice. */
export async function watchFiles(context: Context, run: Run, options: WatchOptions): Promise<void> {
  if ('files' in run.summary) return
  let files = 0
  let totalBytes = 0
  let batch: RecordedFile[] = []
  const recordBatch = () => recordStep(context, run, (tx) => compareFiles(tx, run, batch, options))

  for await (const entry of run.client.files(run.locker, { signal: run.signal })) {
    const file = recordedFile(entry)
    if (!file) continue
    files += 1
    totalBytes += file.size_bytes
    if (batch.push(file) < BATCH) continue
    await recordBatch()
    batch = []
  }
  await recordBatch()
  await recordGone(context, run)
  await recordStep(context, run, async () => ({ summary: { files, total_bytes: totalBytes } }))
}

/** Null for a file without bytes. */
function recordedFile({ filename, content_hash, size_bytes }: ManifestEntry): RecordedFile | null {
  return content_hash === null || size_bytes === null ? null : { filename, sha256: bare(content_hash), size_bytes }
}

/** A changed file is read again, and problems of its old bytes are dropped. */
export async function compareFiles(
  tx: Tx,
  run: Run,
  files: readonly RecordedFile[],
  { isFirst }: WatchOptions,
): Promise<StepResult> {
  if (files.length === 0) return { summary: {} }
  const { delegation_id, run_id } = run
  const names = files.map(({ filename }) => filename)
  const seen = await findSeenFiles(tx, delegation_id, names)
  const mirrors = await findMirrors(tx, delegation_id)
  const isMirrored = ({ filename, sha256 }: RecordedFile) => mirrors.get(filename)?.sha256 === sha256
  const added = files.filter((file) => !seen.has(file.filename))
  const changed = files.filter((file) => (seen.get(file.filename)?.sha256 ?? file.sha256) !== file.sha256)
  await putSeenFiles(
    tx,
    files.map((file) => {
      const before = seen.get(file.filename)
      const { read_at, trouble } = before?.sha256 === file.sha256 ? before : { read_at: null, trouble: null }
      return { ...file, delegation_id, run_id, read_at, trouble }
    }),
  )
  // The mirror reports the files that it has written.
  const findings: NewFinding[] = [
    ...(isFirst ? [] : added).filter((file) => !isMirrored(file)).map(newFile),
    ...changed
      .filter((file) => !isMirrored(file))
      .map((file) => changedFile(file, seen.get(file.filename) as SeenFile)),
  ]
  const summary = { ...counted(run, 'new', isFirst ? 0 : added.length), ...counted(run, 'changed', changed.length) }
  return { findings, summary }
}

function newFile({ filename, sha256, size_bytes }: RecordedFile): NewFinding {
  return { kind: 'file_new', detail: { filename, sha256, size_bytes } }
}

function changedFile({ filename, sha256, size_bytes }: RecordedFile, before: SeenFile): NewFinding {
  return { kind: 'file_changed', detail: { filename, before: before.sha256, after: sha256, size_bytes } }
}

async function recordGone(context: Context, run: Run): Promise<void> {
  for (let isMore = true; isMore; ) {
    await recordStep(context, run, async (tx) => {
      const gone = await findGoneFiles(tx, run, BATCH)
      isMore = gone.length === BATCH
      return removeGone(tx, run, gone)
    })
  }
}

export async function removeGone(tx: Tx, run: Run, gone: readonly SeenFile[]): Promise<StepResult> {
  if (gone.length === 0) return { summary: {} }
  const names = gone.map(({ filename }) => filename)
  await deleteSeenFiles(tx, run.delegation_id, names)
  return {
    findings: gone.map(({ filename, sha256 }) => ({ kind: 'file_gone', detail: { filename, sha256 } })),
    summary: counted(run, 'gone', gone.length),
  }
}
