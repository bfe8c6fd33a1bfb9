// The public facts about an anchor. Memo and registry entry publish the same facts, and the answer adds none: they must
// not lead to the receipt id, which grants access to files (T-61).

import type { Anchor } from '@svc/api/attestations'
import type { PublishedAnchor } from '@svc/api/evidence'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { publicAnchor } from '../../evidence/public-anchor.ts'
import type { StatementRecord } from '../../evidence/record.ts'
import { findByDigest, findByTransaction } from './store.ts'

const DIGEST = /^[0-9a-f]{64}$/

/** `id` is a statement digest or the signature of a transaction. Unpublished statements are not found. */
export async function readPublishedAnchor({ database }: Context, id: string): Promise<PublishedAnchor> {
  const row = await (DIGEST.test(id) ? findByDigest(database.db, id) : findByTransaction(database.db, id))
  const envelope = row && (JSON.parse(row.record) as StatementRecord).envelope
  if (!row?.anchor || !envelope) {
    throw new ServiceError('statement_not_found', 'no statement with this digest or transaction is published', {
      hint: 'use the receipt id to find a statement that is not published yet',
    })
  }
  const { proof_id, sequence, merkle_root, file_count } = envelope.body
  return {
    ...publicAnchor(JSON.parse(row.anchor) as Anchor),
    statement_digest: envelope.statement_digest,
    proof_id,
    sequence,
    merkle_root,
    file_count,
  }
}
