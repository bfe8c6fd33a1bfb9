// The bytes themselves, read back and hashed: as many as a run may read, the least recently read first.

import { fileUrls } from '@svc/api/files'
import { bare } from '@svc/protocol/bytes'
import { BytesDiffer, isGatewayError } from '@svc/sdk/errors'
import { type Context, unixNow } from '../../context.ts'
import type { News } from '../findings/add-findings.ts'
import { hasRoomFor } from '../findings/finding-limits.ts'
import { counted, noteStep, type Run, requireGround, type Summary } from '../runs/run.ts'
import { isAway } from './gateway-errors.ts'
import { compareFiles, forgetGone, type RecordedFile } from './watch-files.ts'
import { findSeenFiles, findUnreadFiles, putSeenFiles, type SeenFile } from './watch-store.ts'

const AT_ONCE = 100
/** Of small files, too, only so many: to open one takes as long as to read a large one. */
const MAX_FILES = 10_000

export async function watchBytes(context: Context, run: Run): Promise<void> {
  const { db } = context.database
  const { watchMaxBytes: maxBytes } = context.config.delegations
  if (maxBytes === 0 || (await requireGround(context, db, run)).watch?.read_bytes === false) return
  for (;;) {
    const limit = Math.min(AT_ONCE, MAX_FILES - Number(run.summary.read ?? 0))
    const span = { since: run.started_at, now: unixNow(context) }
    const files = await findUnreadFiles(db, run.delegation_id, { ...span, maxBytes, limit })
    if (files.length === 0) return
    for (const file of files) {
      if (Number(run.summary.bytes_read ?? 0) + file.size_bytes > maxBytes) return
      await requireGround(context, db, run)
      await readAndNote(context, run, file)
    }
  }
}

async function readAndNote(context: Context, run: Run, file: SeenFile): Promise<void> {
  const reading = await readBack(run, file)
  if (reading === 'right' || reading === 'unreadable') return noteReading(context, run, file, reading)
  const recorded = await findRecord(run, file.filename)
  if (recorded?.sha256 === file.sha256) return noteReading(context, run, file, reading)
  // It is not the bytes that are wrong: what they should be has changed since the list was read.
  await noteStep(context, run, async (tx) => {
    const { news = [], summary } = await (recorded
      ? compareFiles(tx, run, [recorded], { isFirst: false })
      : forgetGone(tx, run, [file]))
    return { news, summary: { ...summary, ...countedRead(run, file) } }
  })
}

interface Trouble {
  kind: 'bytes_differ' | 'bytes_missing'
  /** Hash of what was read instead; null where it was not read to the end. */
  actual: string | null
}

type Reading = 'right' | 'unreadable' | Trouble

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
    // A name that only this gateway allows: it cannot be asked for.
    if (error instanceof RangeError) return 'unreadable'
    if (!isAway(error)) throw error
    // If it answers this, it is away for that file alone, for which the others must not wait.
    await client.metadata(locker)
    return 'unreadable'
  }
}

/** What the gateway has on record of one file now; null where there is none. */
async function findRecord({ client, locker, signal }: Run, filename: string): Promise<RecordedFile | null> {
  const { locker_id } = locker
  const { body } = await client.call(fileUrls, { params: { locker_id }, body: { filenames: [filename] }, signal })
  const [url] = body.urls
  if (!url || url.content_hash === null || url.size_bytes === null) return null
  return { filename, sha256: bare(url.content_hash), size_bytes: url.size_bytes }
}

/**
 * A trouble is a finding when it comes, when it becomes another, and when it comes back. One too many to be listed is
 * not noted, so that a later run finds it again: in the end each was an entry of the log.
 */
async function noteReading(context: Context, run: Run, file: SeenFile, reading: Reading): Promise<void> {
  await noteStep(context, run, async (tx) => {
    const summary = { ...countedRead(run, file), ...counted(run, 'unreadable', Number(reading === 'unreadable')) }
    const seen = (await findSeenFiles(tx, file.delegation_id, [file.filename])).get(file.filename)
    if (seen?.sha256 !== file.sha256) return { summary }
    const trouble = troubleText(reading, seen)
    const news = typeof reading === 'object' && trouble !== seen.trouble ? [newsOf(file, reading)] : []
    const isListed = news.every(({ kind }) => hasRoomFor(run.found, kind))
    await putSeenFiles(tx, [{ ...seen, read_at: unixNow(context), trouble: isListed ? trouble : seen.trouble }])
    return { news, summary }
  })
}

/** Of what could not be read nothing is known that was not known before. */
function troubleText(reading: Reading, seen: SeenFile): string | null {
  if (typeof reading === 'object') return `${reading.kind} ${reading.actual}`
  return reading === 'right' ? null : seen.trouble
}

function newsOf({ filename, sha256, size_bytes }: SeenFile, { kind, actual }: Trouble): News {
  const detail = { filename, sha256, size_bytes }
  return { kind, detail: kind === 'bytes_differ' ? { ...detail, actual } : detail }
}

function countedRead(run: Run, { size_bytes }: SeenFile): Summary {
  return { ...counted(run, 'read', 1), ...counted(run, 'bytes_read', size_bytes) }
}
