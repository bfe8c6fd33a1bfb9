// Reads an export of records of the oracle era, strictly and one record at a time. It checks the form of records, not
// their truth.

import type { Anchor } from '@svc/api/attestations'
import { bare, withPrefix } from '@svc/protocol/bytes'
import { sortedByFilename } from '@svc/protocol/order'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { DEFAULT_MEDIA_TYPE } from '../../files/media-type.ts'
import type { StatementRecord } from '../record.ts'
import type { SnapshotFile } from '../snapshots/chunk-content.ts'
import { type ExportedFile, recordProblem } from './check-record.ts'
import { type Piece, splitExport } from './split-export.ts'

/** The fields of version 1, as they were stored. */
export interface ExportRecord extends StatementRecord {
  receipt_id: string
  locker_id: string
  /** In code-point order, regardless of their order in the export. */
  files: SnapshotFile[]
  /** Null for records older than the field. */
  attestation_status: 'computed' | 'complete' | null
  anchor: Anchor | null
}

/** `at` is the position in the export: `line 3` of JSON Lines, `entry 3` of an array. */
export type ExportEntry = { at: string; record: ExportRecord } | { at: string; problem: string }

export async function* readExport(
  source: AsyncIterable<Uint8Array>,
  maxRecordBytes?: number,
): AsyncGenerator<ExportEntry> {
  for await (const piece of splitExport(source, maxRecordBytes)) yield readEntry(piece)
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

/** A record that `recordProblem` accepts. */
type RawRecord = Omit<ExportRecord, 'files' | 'attestation_status' | 'anchor'> & {
  files: ExportedFile[]
  attestation_status?: ExportRecord['attestation_status']
  anchor?: ExportRecord['anchor']
}

function normalized({ files, attestation_status = null, anchor = null, ...record }: RawRecord): ExportRecord {
  return { ...record, files: sortedByFilename(files.map(attestedFile)), attestation_status, anchor }
}

/** Omits where a file was stored and when it was uploaded, which are not attested (ATT-01). */
function attestedFile({ filename, size_bytes, content_hash, content_type }: ExportedFile): SnapshotFile {
  return {
    filename,
    size_bytes,
    content_hash: withPrefix(bare(content_hash)),
    content_type: content_type ?? DEFAULT_MEDIA_TYPE,
  }
}
