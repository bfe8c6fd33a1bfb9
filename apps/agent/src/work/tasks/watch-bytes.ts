// Reads files back and hashes them, within the byte limit of a run, least recently read first.

import { fileUrls } from '@svc/api/files'
import { bare } from '@svc/protocol/bytes'
import { BytesDiffer, isGatewayError } from '@svc/sdk/errors'
import { type Context, unixNow } from '../../context.ts'
import type { NewFinding } from '../findings/add-findings.ts'
import { isBelowLimit } from '../findings/finding-limits.ts'
import { counted, type Run, recordStep, requireCurrentTasks, type Summary } from '../runs/run.ts'
import { isUnavailable } from './gateway-errors.ts'
import { compareFiles, type RecordedFile, removeGone } from './watch-files.ts'
import { findSeenFiles, findUnreadFiles, putSeenFiles, type SeenFile } from './watch-store.ts'

const BATCH = 100
/** Small files are limited by number: opening one takes as long as reading a large one. */
const MAX_FILES = 10_000

export async function watchBytes(context: Context, run: Run): Promise<void> {
  const { db } = context.database
  const { watchMaxBytes: maxBytes } = context.config.work
  if (maxBytes === 0 || (await requireCurrentTasks(context, db, run)).watch?.read_bytes === false) return
  for (;;) {
    const limit = Math.min(BATCH, MAX_FILES - Number(run.summary.read ?? 0))
    const span = { since: run.started_at, now: unixNow(context) }
    const files = await findUnreadFiles(db, run.delegation_id, { ...span, maxBytes, limit })
    if (files.length === 0) return
    for (const file of files) {
      if (Number(run.summary.bytes_read ?? 0) + file.size_bytes > maxBytes) return
      await requireCurrentTasks(context, db, run)
      await checkFile(context, run, file)
    }
  }
}

async function checkFile(context: Context, run: Run, file: SeenFile): Promise<void> {
  const reading = await readBack(run, file)
  if (reading === 'right' || reading === 'unreadable') return recordReading(context, run, file, reading)
  const recorded = await findRecord(run, file.filename)
  if (recorded?.sha256 === file.sha256) return recordReading(context, run, file, reading)
  // The bytes are correct: the record has changed since the files were listed.
  await recordStep(context, run, async (tx) => {
    const { findings = [], summary } = await (recorded
      ? compareFiles(tx, run, [recorded], { isFirst: false })
      : removeGone(tx, run, [file]))
    return { findings, summary: { ...summary, ...countedRead(run, file) } }
  })
}

interface WrongBytes {
  kind: 'bytes_differ' | 'bytes_missing'
  /** The hash of the bytes that were read; null when they were not read to the end. */
  actual: string | null
}

type Reading = 'right' | 'unreadable' | WrongBytes

async function readBack(run: Run, file: SeenFile): Promise<Reading> {
  const { client, locker, signal } = run
  try {
    const { stream } = await client.get(locker, file.filename, { expectedHash: file.sha256, signal })
    let received = 0
    for await (const chunk of stream) {
      received += chunk.length
      if (received > file.size_bytes) return { kind: 'bytes_differ', actual: null }
    }
    return 'right'
  } catch (error) {
    if (error instanceof BytesDiffer) return { kind: 'bytes_differ', actual: bare(error.actual) }
    if (isGatewayError(error, 'FILE_NOT_FOUND', 'CONTENT_NOT_FOUND')) return { kind: 'bytes_missing', actual: null }
    // The gateway lists a filename that the SDK cannot request.
    if (error instanceof RangeError) return 'unreadable'
    if (!isUnavailable(error)) throw error
    // If this request succeeds, only the one file is unavailable, and the others need not wait for it.
    await client.metadata(locker)
    return 'unreadable'
  }
}

/** The gateway's current record of one file; null when there is none. */
async function findRecord({ client, locker, signal }: Run, filename: string): Promise<RecordedFile | null> {
  const { locker_id } = locker
  const { body } = await client.call(fileUrls, { params: { locker_id }, body: { filenames: [filename] }, signal })
  const [url] = body.urls
  if (!url || url.content_hash === null || url.size_bytes === null) return null
  return { filename, sha256: bare(url.content_hash), size_bytes: url.size_bytes }
}

/**
 * A problem is a finding when it appears, changes, or comes back. A finding beyond the limit of the run is not stored,
 * so that a later run reports it: eventually every problem is in the log.
 */
async function recordReading(context: Context, run: Run, file: SeenFile, reading: Reading): Promise<void> {
  await recordStep(context, run, async (tx) => {
    const summary = { ...countedRead(run, file), ...counted(run, 'unreadable', Number(reading === 'unreadable')) }
    const seen = (await findSeenFiles(tx, file.delegation_id, [file.filename])).get(file.filename)
    if (seen?.sha256 !== file.sha256) return { summary }
    const problem = problemText(reading, seen)
    const findings = typeof reading === 'object' && problem !== seen.trouble ? [findingOf(file, reading)] : []
    const isListed = findings.every(({ kind }) => isBelowLimit(run.found, kind))
    await putSeenFiles(tx, [{ ...seen, read_at: unixNow(context), trouble: isListed ? problem : seen.trouble }])
    return { findings, summary }
  })
}

/** An unreadable file keeps its known problem. */
function problemText(reading: Reading, seen: SeenFile): string | null {
  if (typeof reading === 'object') return `${reading.kind} ${reading.actual}`
  return reading === 'right' ? null : seen.trouble
}

function findingOf({ filename, sha256, size_bytes }: SeenFile, { kind, actual }: WrongBytes): NewFinding {
  const detail = { filename, sha256, size_bytes }
  return { kind, detail: kind === 'bytes_differ' ? { ...detail, actual } : detail }
}

function countedRead(run: Run, { size_bytes }: SeenFile): Summary {
  return { ...counted(run, 'read', 1), ...counted(run, 'bytes_read', size_bytes) }
}
