import type { Anchor } from '@svc/api/attestations'
import type { SignedTransaction } from '@svc/chains/solana/sign-transaction'
import { PRIMARY } from '@svc/payments/networks'
import { anchorPayload } from '@svc/protocol/anchor'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { PublicationTable } from '../db/schema.ts'
import type { Writing } from './memo.ts'
import type { Publisher } from './publisher.ts'
import type { Statement } from './store.ts'

/** As it is noted before it is sent. Throws `NotPublished` where the chain would not take it. */
export async function newPublication(
  publisher: Publisher,
  { receipt_id, sequence }: Statement,
  envelope: EvidenceEnvelope,
  at: number,
): Promise<PublicationTable> {
  const writing = await publisher.writingOf(envelope)
  const signed = await publisher.prepare(writing.instructions)
  return {
    ...signed,
    receipt_id,
    sequence,
    draft: JSON.stringify(draftOf(envelope, publisher, writing, signed)),
    state: 'sent',
    fee_lamports: null,
    rent_lamports: null,
    sent_at: at,
  }
}

/** The anchor as far as it is known before the chain has the transaction. */
function draftOf(
  envelope: EvidenceEnvelope,
  { signer }: Publisher,
  writing: Writing,
  { tx }: SignedTransaction,
): Anchor {
  return {
    type: writing.type,
    chain: PRIMARY.caip2,
    tx,
    slot: null,
    block_time: null,
    signer,
    statement_digest: envelope.statement_digest,
    snapshot_id: envelope.body.snapshot_id,
    payload: { ...anchorPayload(envelope) },
    envelope_version: 2,
    ...(writing.sas && { sas: writing.sas }),
  }
}
