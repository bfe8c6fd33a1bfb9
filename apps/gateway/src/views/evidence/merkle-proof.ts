import type { InclusionProof } from '@svc/api/proofs'
import type { Context } from '../../context.ts'
import { proveFile } from '../../evidence/snapshots/prove-file.ts'
import { fileNotAttested, readAttested } from './read-evidence.ts'

export async function readMerkleProof(
  context: Context,
  { receipt_id, filename, sequence }: { receipt_id: string; filename: string; sequence?: number },
): Promise<InclusionProof> {
  const { record } = await readAttested(context, receipt_id, sequence)
  const proven = await proveFile(context, record.snapshotKey, filename)
  if (!proven) throw fileNotAttested(receipt_id, filename)
  const { size_bytes, content_hash } = proven.file
  return {
    receipt_id,
    filename,
    leaf_hash: proven.leafHash,
    leaf_index: proven.leafIndex,
    merkle_root: record.record.merkle_root,
    proof: proven.proof,
    tree_depth: proven.treeDepth,
    file_count: proven.fileCount,
    file_entry: { filename, size_bytes, content_hash },
    schema_version: '1.0',
    anchor: record.anchor,
  }
}
