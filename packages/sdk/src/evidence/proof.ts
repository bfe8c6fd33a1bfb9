import { type InclusionProof, merkleProof } from '@svc/api/proofs'
import { bare } from '@svc/protocol/bytes'
import { foldProof, leafHash } from '@svc/protocol/merkle'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'

export interface StatementOptions {
  /** Which statement of the receipt; the newest unless told. */
  sequence?: number
  signal?: AbortSignal | undefined
}

/** That a file is in the attested list: the way from its leaf to the root, which is checked. */
export async function proof(
  context: Context,
  receipt_id: string,
  filename: string,
  { sequence, signal }: StatementOptions = {},
): Promise<InclusionProof> {
  const query = { receipt_id, filename, ...(sequence !== undefined && { sequence }) }
  const { body } = await call(context, merkleProof, { query, signal })
  const { file_entry, leaf_hash, proof: steps, merkle_root } = body
  const leadsToRoot =
    file_entry.filename === filename &&
    leafHash(file_entry) === leaf_hash &&
    foldProof(leaf_hash, steps) === bare(merkle_root)
  if (!leadsToRoot) throw new UntrueAnswer(`the proof of ${JSON.stringify(filename)} does not lead to its root`)
  return body
}
