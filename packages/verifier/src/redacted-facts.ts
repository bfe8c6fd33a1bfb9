// The facts that depend on the full list of files, for a bundle that does not show it (ADD-18). If all files are known,
// from the bundle or from a folder, the facts are the same as for a full bundle.

import { bare } from '@svc/protocol/bytes'
import type { EvidenceBody } from '@svc/protocol/evidence'
import { snapshotId } from '@svc/protocol/ids'
import type { Redaction } from '@svc/protocol/redacted-bundle'
import { envelopeBindsCommitment, merkleRootMatches, readStatementBody } from './envelope-facts.ts'
import { type Fact, failed, notChecked, passedUnless } from './facts.ts'
import type { CountedFiles } from './file-list.ts'
import { inclusionProblem } from './inclusion.ts'
import type { BundleParts } from './read-bundle.ts'

export type RedactedParts = Exclude<BundleParts, { redaction: null }>

export interface RedactedReport {
  redaction: Redaction
  /** The number of files that the bundle names. */
  shown: number
  /** The number of files in the statement. Null if it is malformed. */
  total: number | null
  /** What the bundle does not show, as sentences for a person. */
  leftOut: string[]
}

interface ListFacts {
  merkle_root_matches: Fact
  envelope_binds_commitment: Fact
  inclusion_proven: Fact
}

/** Whether the bundle omits any file. */
export function isPartial(parts: RedactedParts): boolean {
  return parts.redaction === 'no_names' || parts.files.count !== parts.commitment.file_count
}

/** `inFolder`: the files of a folder that has all leaves of the bundle. */
export function redactedFacts(parts: RedactedParts, inFolder: CountedFiles | null): ListFacts {
  const body = readStatementBody(parts.envelope?.body)
  if (typeof body === 'string') {
    const malformed = failed(body)
    return { merkle_root_matches: malformed, envelope_binds_commitment: malformed, inclusion_proven: malformed }
  }
  return parts.redaction === 'chosen_files' ? ofChosenFiles(parts, body) : ofLeaves(parts, body, inFolder)
}

function ofChosenFiles(parts: Extract<RedactedParts, { redaction: 'chosen_files' }>, body: EvidenceBody): ListFacts {
  const { files, inclusion } = parts
  const inclusion_proven = passedUnless(inclusionProblem(inclusion, bare(body.merkle_root), body.file_count))
  if (files.count >= body.file_count) return { ...ofAllFiles(parts, files), inclusion_proven }
  const rest = body.file_count - files.count
  return {
    merkle_root_matches: notChecked(`${rest} of ${body.file_count} files are not shown, so the list cannot be hashed`),
    envelope_binds_commitment: bindsInPart(body, files.totalBytes),
    inclusion_proven,
  }
}

function ofLeaves(
  parts: Extract<RedactedParts, { redaction: 'no_names' }>,
  body: EvidenceBody,
  inFolder: CountedFiles | null,
): ListFacts {
  const inclusion_proven = notChecked('the bundle names no file')
  const merkle_root_matches = merkleRootMatches(parts, parts.leaves)
  if (merkle_root_matches.value === 'failed')
    return { merkle_root_matches, envelope_binds_commitment: merkle_root_matches, inclusion_proven }
  if (inFolder) return { ...ofAllFiles(parts, inFolder), inclusion_proven }
  return { merkle_root_matches, envelope_binds_commitment: bindsInPart(body, 0n), inclusion_proven }
}

function ofAllFiles(parts: RedactedParts, files: CountedFiles) {
  return {
    merkle_root_matches: merkleRootMatches(parts, files),
    envelope_binds_commitment: envelopeBindsCommitment(parts, files),
  }
}

function bindsInPart(body: EvidenceBody, bytesShown: bigint): Fact {
  if (body.snapshot_id !== snapshotId(body)) return failed('the snapshot id does not match the statement')
  if (bytesShown > BigInt(body.total_bytes)) return failed('the shown files have more bytes than the statement counts')
  return notChecked('only the full list can show that the manifest digest and the total size are right')
}

export function redactedReport(parts: RedactedParts, inFolder: CountedFiles | null): RedactedReport {
  const { file_count } = parts.commitment
  const total = typeof file_count === 'number' ? file_count : null
  const shown = parts.redaction === 'no_names' ? 0 : parts.files.count
  const hidden = inFolder || !isPartial(parts) ? [] : [hiddenFiles(parts, shown, total)]
  return { redaction: parts.redaction, shown, total, leftOut: [...hidden, NO_RECEIPT] }
}

const NO_RECEIPT = 'the receipt: the bundle names neither the receipt nor its payment nor its locker'

function hiddenFiles(parts: RedactedParts, shown: number, total: number | null): string {
  if (parts.redaction === 'no_names')
    return `the name, size and content of each of the ${parts.leaves.count} files: only their leaves are shown`
  const which = total === null ? 'all other files' : `${total - shown} of ${total} files`
  return `${which}: their names, sizes and contents are not shown`
}
