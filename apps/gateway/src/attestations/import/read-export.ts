// An export of records of the oracle era, read strictly and one record at a time. Nothing in a record is believed yet.

import type { Anchor } from '@svc/api/attestations'
import { bare, withPrefix } from '@svc/protocol/bytes'
import { sortedByFilename } from '@svc/protocol/order'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { DEFAULT_MEDIA_TYPE } from '../../files/media-type.ts'
import type { StatementRecord } from '../record.ts'
import type { SnapshotFile } from '../snapshots/chunk-content.ts'
import { isSpace, MAX_RECORD_BYTES, type Piece } from './piece.ts'
import { type ExportedFile, recordProblem } from './record-problem.ts'
import { splitArray } from './split-array.ts'
import { splitLines } from './split-lines.ts'

/** Version-1 fields, as they were kept. */
export interface ExportRecord extends StatementRecord {
  receipt_id: string
  locker_id: string
  /** In code-point order, whatever order they were written in. */
  files: SnapshotFile[]
  /** Null on records older than the field. */
  attestation_status: 'computed' | 'complete' | null
  anchor: Anchor | null
}

/** `at` says where it stands: `line 3` of JSON Lines, `entry 3` of an array. */
export type ExportEntry = { at: string; record: ExportRecord } | { at: string; problem: string }

/** JSON Lines, or one JSON array of records when the first character is `[`. */
export async function* readExport(
  source: AsyncIterable<Uint8Array>,
  maxRecordBytes = MAX_RECORD_BYTES,
): AsyncGenerator<ExportEntry> {
  const { first, bytes } = await peek(source)
  const split = first === '['.charCodeAt(0) ? splitArray : splitLines
  for await (const piece of split(bytes, maxRecordBytes)) yield readEntry(piece)
}

/** The first byte that is no white space, and the same bytes again. */
async function peek(source: AsyncIterable<Uint8Array>) {
  const rest = source[Symbol.asyncIterator]()
  const seen: Uint8Array[] = []
  let first: number | undefined
  while (first === undefined) {
    const { value, done } = await rest.next()
    if (done) break
    seen.push(value)
    first = value.find((byte: number) => !isSpace(byte))
  }
  async function* again() {
    yield* seen
    yield* { [Symbol.asyncIterator]: () => rest }
  }
  return { first, bytes: again() }
}

function readEntry(piece: Piece): ExportEntry {
  if ('problem' in piece) return piece
  const { at, bytes } = piece
  try {
    const value = parseStrictJson(bytes, bytes.length)
    const problem = recordProblem(value)
    return problem === null ? { at, record: normalized(value as unknown as RawRecord) } : { at, problem }
  } catch (error) {
    return { at, problem: `is not strict JSON: ${(error as Error).message}` }
  }
}

/** What has passed `recordProblem`. */
type RawRecord = Omit<ExportRecord, 'files' | 'attestation_status' | 'anchor'> & {
  files: ExportedFile[]
  attestation_status?: ExportRecord['attestation_status']
  anchor?: ExportRecord['anchor']
}

function normalized({ files, attestation_status = null, anchor = null, ...record }: RawRecord): ExportRecord {
  return { ...record, files: sortedByFilename(files.map(attestedFile)), attestation_status, anchor }
}

/** AMB-83: where a file was kept, and when it came, is not attested. */
function attestedFile({ filename, size_bytes, content_hash, content_type }: ExportedFile): SnapshotFile {
  return {
    filename,
    size_bytes,
    content_hash: withPrefix(bare(content_hash)),
    content_type: content_type ?? DEFAULT_MEDIA_TYPE,
  }
}
